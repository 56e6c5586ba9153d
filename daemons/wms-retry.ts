/** Delivers the tasks of the external warehouse, as an own program: `tradepost wms deliver`. For ever, or with `--once` (for cron). */
import { main } from '@tradepost/cli';

const code = await main(['wms', 'deliver', ...process.argv.slice(2)]);
if (code !== undefined) process.exit(code);
