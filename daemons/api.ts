/** Runs `tradepost start --only api`: the API without the worker. Takes the options of `start`. */
require('../bin/need-node.cjs');

import('@tradepost/cli').then(({ run }) => run(['start', '--only', 'api', ...process.argv.slice(2)]));
