/** Runs `tradepost start --only gateway`: the LLM gateway without API and worker. Takes the options of `start`. */
import { main } from '@tradepost/cli';

const code = await main(['start', '--only', 'gateway', ...process.argv.slice(2)]);
if (code !== undefined) process.exit(code);
