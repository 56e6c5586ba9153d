import type { ModuleCommand } from '@tradepost/module';
import { addImport } from '../../shipments/csv/import-command.ts';
import { addSync } from './sync.ts';
import { addTracks } from './tracks.ts';

export const shipmentsCommand: ModuleCommand = {
  name: 'shipments',
  sort: 220,
  register(program, context) {
    const group = program
      .command('shipments')
      .description('shipments: sync with their carriers, events on the way, import');
    addSync(group, context);
    addTracks(group, context);
    addImport(group, context);
  },
};
