import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkout } from '../version.ts';

/** The text between the parentheses of each call that adds a finding: `error('jobs/late', ...`. */
const call = /\b(?:note|warning|error|failed)\)?\(\s*'([a-z0-9-]+\/[a-z0-9-]+)'/g;
const row = /^\| `([a-z0-9-]+\/[a-z0-9-]+)` \| \S/gm;
const idsIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, id]) => id!);

test('an operator finds every id that the doctor prints in the troubleshooting guide, and no other', async () => {
  const used = new Set<string>();
  const exclude = (name: string) => name === 'node_modules' || name === 'client';
  for await (const file of glob('packages/*/**/*.ts', { cwd: checkout, exclude }))
    if (!file.endsWith('.test.ts'))
      for (const id of idsIn(await readFile(join(checkout, file), 'utf8'), call)) used.add(id);
  const explained = idsIn(await readFile(join(checkout, 'docs/TROUBLESHOOTING.md'), 'utf8'), row);
  expect(used.size).toBeGreaterThan(100);
  expect(new Set(explained).size).toBe(explained.length);
  expect([...explained].sort()).toEqual([...used].sort());
});
