import { openLog, openMetrics, type Runtime } from '@tradepost/runtime';
import { expect, test } from 'vitest';
import type { Module } from './module.ts';
import { openModules } from './open-modules.ts';

const runtime = { log: openLog({ level: 'silent' }), metrics: openMetrics() } as unknown as Runtime;

/** Three modules; the second one fails to close. */
function modulesThatClose(closed: string[]): Module[] {
  const module = (name: string): Module => ({
    name,
    open: () => ({
      async close() {
        closed.push(name);
        if (name === 'second') throw new Error('cannot close');
      },
    }),
  });
  return ['first', 'second', 'third'].map(module);
}

test('when a module fails to close, the other modules are closed', async () => {
  const closed: string[] = [];
  const { close } = await openModules(runtime, modulesThatClose(closed));
  await close();
  expect(closed).toEqual(['third', 'second', 'first']);
});

test('when a module fails to open, the earlier modules are closed and its error is thrown', async () => {
  const closed: string[] = [];
  const broken: Module = { name: 'broken', open: () => Promise.reject(new Error('cannot open')) };
  await expect(openModules(runtime, [...modulesThatClose(closed), broken])).rejects.toThrow('cannot open');
  expect(closed).toEqual(['third', 'second', 'first']);
});
