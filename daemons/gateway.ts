/** Runs `tradepost start --only gateway`: the LLM gateway without API and worker. Takes the options of `start`. */
require('../bin/need-node.cjs');

import('@tradepost/cli').then(({ run }) => run(['start', '--only', 'gateway', ...process.argv.slice(2)]));
