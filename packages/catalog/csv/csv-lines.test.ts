import { type CsvFault, type CsvLine, readCsvLines } from '@tradepost/csv';
import { describe, expect, test } from 'vitest';
import { catalogCsv } from './csv-columns.ts';
import { groupLines } from './csv-drafts.ts';

/** A hostile or broken file costs time in proportion to its size, and its faults have their line numbers. */
const header = 'handle,title,price\n';
const chunkBytes = 64 * 1024;

async function* chunksOf(text: string) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

async function read(text: string): Promise<{ lines: number; faults: CsvFault[] }> {
  let lines = 0;
  const faults: CsvFault[] = [];
  for await (const item of readCsvLines(chunksOf(text), catalogCsv))
    if ('cells' in item) lines += 1;
    else faults.push(item);
  return { lines, faults };
}

/** Milliseconds of CPU time of the cheapest of three readings, including that of a file error. */
async function costOf(text: string): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < 3; run += 1) {
    const began = process.cpuUsage();
    await read(text).catch(() => {});
    times.push(process.cpuUsage(began).user / 1_000);
  }
  return Math.min(...times);
}

const hostile: [what: string, n: number, file: (n: number) => string][] = [
  ['one stray quote, then sound lines', 30_000, (n) => `${header}a,"b,1\n${'k,title,1\n'.repeat(n)}`],
  ['a stray quote in every line', 2_000, (n) => `${header}${'k,ti"tle,1\n'.repeat(n)}`],
  ['an open quote, then a stray quote in every line', 2_000, (n) => `${header}a,"b,1\n${'k,t"i"tle",1\n'.repeat(n)}`],
  [
    'an open quote in every 100th line',
    30_000,
    (n) => `${header}${`${'k,title,1\n'.repeat(99)}k,"title,1\n`.repeat(n / 100)}`,
  ],
  ['quoted cells after a stray quote', 3_000, (n) => `${header}a,b"c,1\n${'k,"title",1\n'.repeat(n)}`],
  ['one cell without an end', 400_000, (n) => `${header}a,"${'x'.repeat(n)}`],
  ['one line without an end', 1_000_000, (n) => `${header}${'x'.repeat(n)}`],
  ['a header without an end', 1_000_000, (n) => 'x'.repeat(n)],
  ['no line ends but carriage returns', 60_000, (n) => `handle,title,price\r${'k,title,1\r'.repeat(n)}`],
  ['empty lines', 50_000, (n) => header + '\n'.repeat(n)],
  ['an open quote before empty lines', 50_000, (n) => `${header}a,"b,1\n${'\n'.repeat(n)}`],
  ['NULs', 400_000, (n) => header + '\0'.repeat(n)],
  ['columns without end', 200_000, (n) => header + ','.repeat(n)],
  ['quoted columns without end', 20_000, (n) => header + '"a",'.repeat(n)],
  ['header columns without end', 200_000, (n) => 'handle,'.repeat(n)],
];

describe('a file 16 times as long costs about 16 times as much:', () => {
  test.each(hostile)('%s', async (_what, n, file) => {
    const [small, large] = [file(n / 4), file(4 * n)];
    await costOf(small);
    const [one, sixteen] = [await costOf(small), await costOf(large)];
    // A quadratic reader would need 256 times as long. Below a few milliseconds the clock is not accurate enough.
    expect(sixteen / Math.max(one, 3)).toBeLessThan(64);
  });
});

test('a stray quote is reported with its line, and every other line is read', async () => {
  const { lines, faults } = await read(
    `${header}a,ok,1\nb,"open,1\n${'k,title,1\n'.repeat(50_000)}c,"x" y,1\nd,ok,1\n`,
  );
  expect(lines).toBe(50_002);
  expect(faults.map(({ line }) => line)).toEqual([3, 50_004]);
  expect(faults[0]!.message).toMatch(/quotes/);
});

test('a record without an end is reported with its line, and memory is limited', async () => {
  let sent = 0;
  async function* endless() {
    yield Buffer.from(`${header}a,ok,1\n`);
    const bytes = Buffer.alloc(chunkBytes, 'x');
    for (; sent < 5_000; sent += 1) yield bytes;
  }
  const reading = (async () => {
    for await (const _ of readCsvLines(endless(), catalogCsv)) {
    }
  })();
  await expect(reading).rejects.toThrow(/^line 3: .*longer than/);
  expect(sent * chunkBytes).toBeLessThan(20_000_000);
});

test('the number of lines that are kept behind an open quote is limited', async () => {
  const items: (CsvLine | CsvFault)[] = [];
  let sent = 0;
  async function* manyLines() {
    yield Buffer.from(`${header}a,"open,1\n`);
    for (; sent < 200; sent += 1) yield Buffer.from('k,t,1\n'.repeat(1_000));
  }
  for await (const item of readCsvLines(manyLines(), catalogCsv)) {
    items.push(item);
    break;
  }
  expect(items[0]).toMatchObject({ line: 2, message: expect.stringMatching(/quotes/) });
  expect(sent, 'thousands of lines read in advance').toBeLessThan(50);
});

describe('the memory for one product is limited:', () => {
  const groupsOf = async (text: string) => {
    const items = [];
    for await (const item of groupLines(readCsvLines(chunksOf(text), catalogCsv))) items.push(item);
    return items;
  };

  test('broken lines after it are reported before the file ends', async () => {
    const items = await groupsOf(`${header}a,ok,1\n${'short\n'.repeat(5_000)}`);
    expect(items.filter((item) => !('key' in item))).toHaveLength(5_000);
    let sent = 0;
    async function* brokenLines() {
      yield Buffer.from(`${header}a,ok,1\n`);
      for (; sent < 200; sent += 1) yield Buffer.from('short\n'.repeat(100));
    }
    for await (const item of groupLines(readCsvLines(brokenLines(), catalogCsv))) {
      expect(item).toMatchObject({ key: 'handle a' });
      break;
    }
    expect(sent).toBeLessThan(20);
  });

  test('its lines also by characters, and its handle', async () => {
    const [big, next] = await groupsOf(`${header}${`a,${'x'.repeat(900_000)},1\n`.repeat(20)}b,ok,1\n`);
    expect(big).toMatchObject({ key: 'handle a', faults: [{ message: expect.stringMatching(/8000000 characters/) }] });
    expect((big as { lines: unknown[] }).lines.length).toBeLessThan(10);
    expect(next).toMatchObject({ key: 'handle b', faults: [] });
    const [long] = await groupsOf(`${header}${'k'.repeat(300)},ok,1\n`);
    expect(long).toMatchObject({ line: 2, field: 'handle', message: 'longer than 255 characters' });
  });
});
