/** The LLM gateway without API and worker: `tradepost start --only gateway`, as an own program. Options as there. */
import { main } from '@tradepost/cli';

const code = await main(['start', '--only', 'gateway', ...process.argv.slice(2)]);
if (code !== undefined) process.exit(code);
