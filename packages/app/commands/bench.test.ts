import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkout } from '../version.ts';
import { missingPackages } from './bench.ts';

test('an installation without packages for development is recognised before a benchmark fails with a stack', async () => {
  expect(await missingPackages(join(checkout, 'package.json'))).toEqual([]);
  const folder = await mkdtemp(join(tmpdir(), 'tradepost-bench-'));
  try {
    const file = join(folder, 'package.json');
    await writeFile(file, JSON.stringify({ devDependencies: { there: '1', '@scope/gone': '1' } }));
    await mkdir(join(folder, 'node_modules/there'), { recursive: true });
    expect(await missingPackages(file)).toEqual(['@scope/gone']);
  } finally {
    await rm(folder, { recursive: true });
  }
});
