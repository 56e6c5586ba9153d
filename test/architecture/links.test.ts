import { expect, test } from 'vitest';
import { anchorsOf, linkFaults, referencesOf } from './links.ts';

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
