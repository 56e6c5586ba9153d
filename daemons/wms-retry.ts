/** Runs `tradepost wms deliver`: delivers tasks to the external warehouse, for ever, or once with `--once` (for cron). */
import { main } from '@tradepost/cli';

const code = await main(['wms', 'deliver', ...process.argv.slice(2)]);
if (code !== undefined) process.exit(code);
