import type { ModuleCommand } from '@tradepost/module';
import { addLimits } from './limits.ts';
import { addTokens } from './tokens.ts';
import { addUpstreams } from './upstreams.ts';

export const gatewayCommand: ModuleCommand = {
  name: 'gateway',
  sort: 310,
  register(program, context) {
    const group = program.command('gateway').description('the LLM gateway: API tokens, limits of shoppers, upstreams');
    addTokens(group, context);
    addLimits(group, context);
    addUpstreams(group, context);
  },
};
