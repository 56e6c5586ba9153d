import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { functionSizes, mostFiles, mostLines, shapeFaults } from './shape.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tradepost-shape-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const statements = (count: number) => Array.from({ length: count }, (_, i) => `  work(${i});`).join('\n');

test('the packages keep the size limits', async () => {
  expect(await shapeFaults()).toEqual([]);
});

test('functions of every kind are measured, from their first to their last line', () => {
  const text = `
export function declared() {
${statements(2)}
}
const arrow = () => {
${statements(3)}
};
class Kept {
  method() {
    const inner = function () {
${statements(1)}
    };
  }
}
declare function typed(a: number): void;
`;
  expect(functionSizes('a.ts', text)).toEqual([
    { name: 'declared', line: 2, lines: 4 },
    { name: 'arrow', line: 6, lines: 5 },
    { name: 'inner', line: 13, lines: 3 },
    { name: 'method', line: 12, lines: 5 },
  ]);
});

test('a route definition counts towards its handler only', () => {
  const text = `
const routes = () => [
  defineRoute({
    path: '/a',
    handle() {
${statements(90)}
    },
  }),
];
`;
  expect(functionSizes('a.ts', text)).toEqual([
    { name: 'handle', line: 5, lines: 92 },
    { name: 'routes', line: 2, lines: 2 },
  ]);
});

test('long functions, full folders and unnecessary exceptions are faults', async () => {
  const full = join(folder, 'full');
  await mkdir(full);
  await writeFile(join(folder, 'long.ts'), `function long() {\n${statements(mostLines - 1)}\n}\n`);
  await writeFile(join(folder, 'short.ts'), `function short() {\n${statements(mostLines - 2)}\n}\n`);
  await writeFile(join(folder, 'long.test.ts'), `function tested() {\n${statements(mostLines)}\n}\n`);
  for (let i = 0; i <= mostFiles; i += 1) await writeFile(join(full, `file-${i}.ts`), '');
  const none = { longFunctions: {}, fullFolders: {} };
  const faults = await shapeFaults([folder], none);
  expect(faults).toHaveLength(2);
  expect(faults[0]).toMatch(/long\.ts:1: long has 81 lines, 80 at most$/);
  expect(faults[1]).toMatch(/full: 16 source files, 15 at most$/);
  const excepted = { longFunctions: { 'long.ts long': 'why', 'gone.ts gone': 'why' }, fullFolders: {} };
  expect((await shapeFaults([folder], excepted)).filter((fault) => !fault.includes('full:'))).toEqual([
    'gone.ts gone: the exception is no longer needed',
  ]);
});
