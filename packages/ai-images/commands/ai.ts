import type { RegisterCommand } from '@tradepost/module';
import { addModels } from './models.ts';

export const register: RegisterCommand = (group, context) => {
  addModels(group, context);
};
