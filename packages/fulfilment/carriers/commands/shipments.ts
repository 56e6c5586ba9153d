import type { RegisterCommand } from '@tradepost/module';
import { addImport } from '../../shipments/csv/import-command.ts';
import { addSync } from './sync.ts';
import { addTracks } from './tracks.ts';

export const register: RegisterCommand = (group, context) => {
  addSync(group, context);
  addTracks(group, context);
  addImport(group, context);
};
