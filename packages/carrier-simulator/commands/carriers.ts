import type { RegisterCommand } from '@tradepost/module';
import { addSimulate } from './simulate.ts';

export const register: RegisterCommand = (command) => {
  addSimulate(command);
};
