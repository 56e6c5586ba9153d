import type { RegisterCommand } from '@tradepost/module';
import { addLimits } from './limits.ts';
import { addTokens } from './tokens.ts';
import { addUpstreams } from './upstreams.ts';

export const register: RegisterCommand = (group, context) => {
  addTokens(group, context);
  addLimits(group, context);
  addUpstreams(group, context);
};
