import type { ModuleCommand } from '@tradepost/module';
import { addExport } from './export-command.ts';
import { addImport } from './import-command.ts';

export const ordersCommand: ModuleCommand = {
  name: 'orders',
  sort: 215,
  register(program, context) {
    const group = program.command('orders').description('export orders as a CSV file, import those of an older shop');
    addExport(group, context);
    addImport(group, context);
  },
};
