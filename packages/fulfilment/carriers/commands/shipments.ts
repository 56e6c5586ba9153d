import type { ModuleCommand } from '@tradepost/module';
import { addSync } from './sync.ts';
import { addTracks } from './tracks.ts';

export const shipmentsCommand: ModuleCommand = {
  name: 'shipments',
  sort: 220,
  register(program, context) {
    const group = program.command('shipments').description('shipments: sync with their carriers, events on the way');
    addSync(group, context);
    addTracks(group, context);
  },
};
