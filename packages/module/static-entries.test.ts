import type { Runtime } from '@tradepost/runtime';
import { expect, test } from 'vitest';
import type { Module } from './module.ts';
import { openModules } from './open-modules.ts';
import { defineRegistry } from './registry.ts';
import { staticEntriesOf } from './static-entries.ts';

const carriers = defineRegistry<string>('shop.carriers', { isStatic: true });
const sections = defineRegistry<string>('shop.sections');
const runtime = {} as Runtime;

test('a module that opens reads the static entries of later modules too, in the order of the list', async () => {
  let read: readonly string[] = [];
  const owner: Module = {
    name: 'owner',
    entries: [carriers.add('post')],
    open(context) {
      read = context.entries(carriers);
      return {};
    },
  };
  const other: Module = { name: 'other', entries: [carriers.add('drone')] };
  await openModules(runtime, [owner, other]);
  expect(read).toEqual(['post', 'drone']);
  expect(staticEntriesOf([other])(carriers)).toEqual(['drone']);
});

test('an entry that is added too late is an error with the name of its registry', async () => {
  const late: Module = { name: 'late', open: () => ({ contributions: [carriers.add('post')] }) };
  await expect(openModules(runtime, [late])).rejects.toThrow('late adds to shop.carriers too late');
  expect(() => staticEntriesOf([{ name: 'early', entries: [sections.add('parcel')] }])).toThrow('shop.sections');
});
