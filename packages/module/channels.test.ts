import type { Channel } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { expect, test } from 'vitest';
import { openModules } from './open-modules.ts';

test('a shop serves the channels of its modules', async () => {
  const events = { name: 'events', path: '/ws/events' } as Channel;
  const opened = await openModules({} as Runtime, [
    { name: 'plain', open: () => ({}) },
    { name: 'live', open: () => ({ channels: () => [events] }) },
  ]);
  expect(opened.channels).toEqual([events]);
  expect((await openModules({} as Runtime, [{ name: 'plain' }])).channels).toEqual([]);
});
