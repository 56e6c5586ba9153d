/** Runs `tradepost shipments sync`: queries the carriers of shipments, for ever, or once with `--once` (for cron). */
import { main } from '@tradepost/cli';

const code = await main(['shipments', 'sync', ...process.argv.slice(2)]);
if (code !== undefined) process.exit(code);
