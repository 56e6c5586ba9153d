import type { RegisterCommand } from '@tradepost/module';
import { addCreate } from './create.ts';
import { addList } from './list.ts';
import { addRestore } from './restore.ts';
import { addVerify } from './verify.ts';

export const register: RegisterCommand = (group, context) => {
  addCreate(group, context);
  addList(group, context);
  addVerify(group, context);
  addRestore(group, context);
};
