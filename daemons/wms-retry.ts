/** Runs `tradepost wms deliver`: delivers tasks to the external warehouse, for ever, or once with `--once` (for cron). */
require('../bin/need-node.cjs');

import('@tradepost/cli').then(({ run }) => run(['wms', 'deliver', ...process.argv.slice(2)]));
