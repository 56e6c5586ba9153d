import { expect, test } from 'vitest';
import { readCsvLines } from './read-csv-lines.ts';

/** The cells of each line, or the fault of a line. The bytes come one by one. */
async function read(text: string): Promise<unknown[]> {
  async function* bytes() {
    for (const byte of Buffer.from(text)) yield Uint8Array.of(byte);
  }
  const lines: unknown[] = [];
  for await (const line of readCsvLines(bytes(), { columns: ['a', 'b'], needs: [['a']] }))
    lines.push('cells' in line ? [line.line, ...line.cells.values()] : `${line.line}: ${line.message}`);
  return lines;
}

test.each([
  ['a byte order mark and CRLF', '\ufeffa,b\r\n1,2\r\n', [[2, '1', '2']]],
  ['semicolons', 'a;b\n"1;2";3\n', [[2, '1;2', '3']]],
  ['tabs', 'a\tb\n1\t2', [[2, '1', '2']]],
  ['an empty line before a header with semicolons', '\na;b\n1;2', [[3, '1', '2']]],
  ['a blank line before a header with tabs', ' \r\na\tb\r\n1\t2', [[3, '1', '2']]],
  ['a line of empty cells before the header', ',,\na;b\n1;2', [[3, '1', '2']]],
  [
    'line ends and doubled quotes in a cell',
    'a,b\n"x\n""y""",2\n3,4',
    [
      [2, 'x\n"y"', '2'],
      [4, '3', '4'],
    ],
  ],
  ['carriage returns alone', 'a,b\r1,2\r', [[2, '1', '2']]],
])('%s', async (_what, text, lines) => {
  expect(await read(text)).toEqual(lines);
});

test('a quote that is not closed makes its own line invalid', async () => {
  const lines = await read('a,b\n"x,2\n3,4\n');
  expect(lines).toEqual([expect.stringMatching(/^2: the quotes do not match/), [3, '3', '4']]);
});
