import type { ModuleCommand } from '@tradepost/module';
import { addCreate } from './create.ts';
import { addList } from './list.ts';
import { addRestore } from './restore.ts';
import { addVerify } from './verify.ts';

export const backupCommand: ModuleCommand = {
  name: 'backup',
  sort: 535,
  register(program, context) {
    const group = program
      .command('backup')
      .description('backups of the shop: rows and uploaded files in a file, a folder or a bucket');
    addCreate(group, context);
    addList(group, context);
    addVerify(group, context);
    addRestore(group, context);
  },
};
