/** Runs `tradepost start --only worker`: for ever, or with `--once` until no job is due (for cron). */
import { main } from '@tradepost/cli';

const code = await main(['start', '--only', 'worker', ...process.argv.slice(2)]);
if (code !== undefined) process.exit(code);
