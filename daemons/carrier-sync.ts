/** Runs `tradepost shipments sync`: queries the carriers of shipments, for ever, or once with `--once` (for cron). */
require('../bin/need-node.cjs');

import('@tradepost/cli').then(({ run }) => run(['shipments', 'sync', ...process.argv.slice(2)]));
