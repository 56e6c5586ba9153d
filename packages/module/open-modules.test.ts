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

test('a module that fails to close does not leave the others open', async () => {
  const closed: string[] = [];
  const { close } = await openModules(runtime, modulesThatClose(closed));
  await close();
  expect(closed).toEqual(['third', 'second', 'first']);
});

test('a module that fails to open closes those before it, and its error is the one that is thrown', async () => {
  const closed: string[] = [];
  const broken: Module = { name: 'broken', open: () => Promise.reject(new Error('cannot open')) };
  await expect(openModules(runtime, [...modulesThatClose(closed), broken])).rejects.toThrow('cannot open');
  expect(closed).toEqual(['third', 'second', 'first']);
});
