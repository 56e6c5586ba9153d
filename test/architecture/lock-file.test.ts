import { expect, test } from 'vitest';
import { lockFaults, readLock, withoutEngines } from './lock-file.ts';

test('npm ci has nothing to warn about, whatever Node.js it runs on', async () => {
  expect(lockFaults(await readLock())).toEqual([]);
});

test('engines of other packages and deprecated packages are found, and only the engines are removed', () => {
  const own = { engines: { node: '>=20' } };
  const lock = {
    packages: {
      '': own,
      'packages/client': own,
      'node_modules/a': { version: '1.0.0', engines: { node: '>=22' } },
      'node_modules/a/node_modules/b': { deprecated: 'use c' },
    },
  };
  expect(lockFaults(lock)).toEqual([
    'package-lock.json: node_modules/a has engines; npm run lock removes them',
    'package-lock.json: node_modules/a/node_modules/b is deprecated: use c',
  ]);
  expect(withoutEngines(lock).packages).toEqual({
    ...lock.packages,
    'node_modules/a': { version: '1.0.0' },
  });
});
