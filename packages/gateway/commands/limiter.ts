import type { RegisterCommand } from '@tradepost/module';
import { addInspect } from './limiter-inspect.ts';
import { addLoad } from './limiter-load.ts';
import { addReset } from './limiter-reset.ts';

export const register: RegisterCommand = (group, context) => {
  addLoad(group);
  addInspect(group, context);
  addReset(group, context);
};
