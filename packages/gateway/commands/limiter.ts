import type { ModuleCommand } from '@tradepost/module';
import { addInspect } from './limiter-inspect.ts';
import { addLoad } from './limiter-load.ts';
import { addReset } from './limiter-reset.ts';

export const limiterCommand: ModuleCommand = {
  name: 'limiter',
  sort: 320,
  register(program, context) {
    const group = program
      .command('limiter')
      .description('the rate limiter of the gateway: load-test it, inspect and reset its counts');
    addLoad(group);
    addInspect(group, context);
    addReset(group, context);
  },
};
