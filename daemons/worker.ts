/** Runs `tradepost start --only worker`: for ever, or with `--once` until no job is due (for cron). */
require('../bin/need-node.cjs');

import('@tradepost/cli').then(({ run }) => run(['start', '--only', 'worker', ...process.argv.slice(2)]));
