import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { anchorsOf, linkFaults, referencesOf } from './links.ts';
import { filesOf, root } from './tree.ts';

test('every relative link and every file that a document names exists', () => {
  expect(linkFaults()).toEqual([]);
});

test('links and file names in backticks are found, those in code blocks are not', () => {
  const text = [
    'See [the map](docs/MAP.md#parts) and `packages/core/money.ts`.',
    '```sh',
    'cat `other/file.ts` [not](a.md)',
    '```',
    'Not files: `tradepost audit`, `NNNN_words.sql`, `https://shop.example/a.json`.',
  ].join('\n');
  expect(referencesOf(text)).toEqual([
    { kind: 'link', target: 'docs/MAP.md#parts', line: 1 },
    { kind: 'file', target: 'packages/core/money.ts', line: 1 },
  ]);
});

test('headings have the anchors that a Markdown renderer makes', () => {
  const text = '# A, B & `C`\n\n## On Redis or Valkey\n\n## Limits\n\n## Limits\n';
  expect([...anchorsOf(text)]).toEqual(['a-b--c', 'on-redis-or-valkey', 'limits', 'limits-1']);
});

test('every test file that a promise names exists', async () => {
  const text = await readFile(join(root, 'docs/PROMISES.md'), 'utf8');
  const rows = text.split('\n').filter((line) => line.startsWith('| ') && !line.endsWith('| shown by |'));
  const named = rows.flatMap((row) => {
    const cell = row.split('|').at(-2) ?? '';
    // Names of attacks and fault scenarios are not test files. They are looked up in their own lists.
    const tests = cell.replaceAll(/(?:hostile|faults) `[^`]*`(?:, `[^`]*`)*/g, '');
    return [...tests.matchAll(/`([a-z-]+)`/g)].map(([, name]) => `${name}.test.ts`);
  });
  expect(named.length).toBeGreaterThan(20);
  const tests = new Set(filesOf(['{packages,test}/**/*.test.ts']).map((path) => basename(path)));
  expect(named.filter((name) => !tests.has(name))).toEqual([]);
});
