import type { RegisterCommand } from '@tradepost/module';
import { addExport } from './export-command.ts';
import { addImport } from './import-command.ts';

export const register: RegisterCommand = (group, context) => {
  addExport(group, context);
  addImport(group, context);
};
