import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defer } from '@tradepost/testing/processes/cleanup';
import { runCommand } from '@tradepost/testing/processes/process';
import type { Attack } from './attack.ts';

const head = 'handle,title,price,sku_code,stock\n';
const line = (n: number) => `s${n},Spoon ${n},1.00,HOSTILE-${n},5\n`;
const lines = (bytes: number) =>
  Array.from({ length: Math.floor(bytes / line(10_000).length) }, (_, n) => line(n)).join('');

/** A file, and what the refusal must say. Without one only the time counts. */
const files: readonly (readonly [name: string, text: (bytes: number) => string, told?: RegExp])[] = [
  ['a quote that is never closed', (bytes) => `${head}s1,"Spoon,1.00,HOSTILE,5\n${lines(bytes)}`, /line 2\b/],
  ['a quote in the middle of a cell', (bytes) => `${head}s1,Spo"on,1.00,HOSTILE,5\n${lines(bytes)}`],
  ['quotes alone', (bytes) => `${head}${'"'.repeat(bytes + 1)}`],
  ['commas alone', (bytes) => `${head}${','.repeat(bytes)}`],
  ['line ends alone', (bytes) => `${head}${'\n'.repeat(bytes)}`],
  ['one cell of all its bytes', (bytes) => `${head}${'a'.repeat(bytes)}`],
];

/** Starting the command takes a second or two of these. */
const limitMs = { short: 20_000, long: 10_000 } as const;

/** A broken file is refused in a time that grows with its size, and its line is named. */
export const csv: Attack = {
  name: 'csv',
  about: 'imports of a megabyte that one stray quote, or no content at all, makes hard to read',
  transports: 'any',
  async run(battle) {
    const { arena, size } = battle;
    const folder = await mkdtemp(join(tmpdir(), 'tradepost-hostile-'));
    const remove = defer(() => rm(folder, { recursive: true, force: true }));
    const chosen = size === 'short' ? files.slice(0, 1) : files;
    for (const [index, [name, text, told]] of chosen.entries()) {
      const file = join(folder, `${index}.csv`);
      await writeFile(file, text(battle.of({ short: 400_000, long: 4_000_000 })));
      const begun = performance.now();
      const { code, stderr } = await runCommand(['catalog', 'import', file, '--dry-run'], {
        env: { DATABASE_URL: arena.databaseUrl },
        limitMs: limitMs[size] + 10_000,
      });
      battle.sent(1);
      const ms = Math.round(performance.now() - begun);
      battle.progress(`${name}: ${ms} ms`);
      if (ms > limitMs[size]) {
        battle.fault(`${name}: ${ms} ms or more (at most ${limitMs[size]})`);
        continue;
      }
      if (told && !told.test(stderr))
        battle.fault(`${name}: ends with ${code} and does not name the line: ${stderr.slice(0, 300)}`);
      if (/\n\s+at .*\.ts:\d+/.test(stderr)) battle.fault(`${name}: ends with a stack trace: ${stderr.slice(0, 300)}`);
    }
    await remove();
  },
};
