/** The API without the worker: `tradepost start --only api`, as an own program. Options as there. */
import { main } from '@tradepost/cli';

const code = await main(['start', '--only', 'api', ...process.argv.slice(2)]);
if (code !== undefined) process.exit(code);
