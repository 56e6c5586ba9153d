/** Runs `tradepost start --only api`: the API without the worker. Takes the options of `start`. */
import { main } from '@tradepost/cli';

const code = await main(['start', '--only', 'api', ...process.argv.slice(2)]);
if (code !== undefined) process.exit(code);
