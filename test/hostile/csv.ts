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

/** Files, with the message that the refusal must contain. Without a message only the time is checked. */
const files: readonly (readonly [name: string, text: (bytes: number) => string, message?: RegExp])[] = [
  ['a quote that is never closed', (bytes) => `${head}s1,"Spoon,1.00,HOSTILE,5\n${lines(bytes)}`, /line 2\b/],
  ['a quote in the middle of a cell', (bytes) => `${head}s1,Spo"on,1.00,HOSTILE,5\n${lines(bytes)}`],
  ['quotes alone', (bytes) => `${head}${'"'.repeat(bytes + 1)}`],
  ['commas alone', (bytes) => `${head}${','.repeat(bytes)}`],
  ['line ends alone', (bytes) => `${head}${'\n'.repeat(bytes)}`],
  ['one cell of all its bytes', (bytes) => `${head}${'a'.repeat(bytes)}`],
];

/** The longest time of a file in the short form, which only shows that the command ends. Includes the start of the command. */
const shortMs = 20_000;
/** In the long form: so many times the time of an ordinary file of the same size, which this machine has just checked. */
const timesOrdinary = 4;
/** After this time the command for the ordinary file is killed. */
const ordinaryLimitMs = 60_000;

/** A broken file is refused in a time linear in its size, and the message names the line. */
export const csv: Attack = {
  name: 'csv',
  about: 'imports of large files with a stray quote or without content',
  transports: 'any',
  async run(attackRun) {
    const { servers, size } = attackRun;
    const bytes = attackRun.of({ short: 400_000, long: 4_000_000 });
    const folder = await mkdtemp(join(tmpdir(), 'tradepost-hostile-'));
    const remove = defer(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, 'goods.csv');
    const check = async (name: string, text: string, timeoutMs: number) => {
      await writeFile(file, text);
      const begun = performance.now();
      const env = { DATABASE_URL: servers.databaseUrl };
      const result = await runCommand(['catalog', 'import', file, '--dry-run'], { env, timeoutMs });
      const ms = Math.round(performance.now() - begun);
      attackRun.progress(`${name}: ${ms} ms`);
      return { ...result, ms };
    };
    let allowedMs = shortMs;
    if (size === 'long') {
      const { code, ms, stderr } = await check('an ordinary file', head + lines(bytes), ordinaryLimitMs);
      if (code !== 0) throw new Error(`the ordinary file ends with ${code}: ${stderr.slice(0, 300)}`);
      allowedMs = timesOrdinary * ms;
    }
    for (const [name, text, message] of size === 'short' ? files.slice(0, 1) : files) {
      const { code, ms, stderr } = await check(name, text(bytes), allowedMs + 10_000);
      attackRun.sent(1);
      if (ms > allowedMs) {
        attackRun.fault(`${name}: ${ms} ms or more (at most ${allowedMs})`);
        continue;
      }
      if (message && !message.test(stderr))
        attackRun.fault(`${name}: ends with ${code} and does not name the line: ${stderr.slice(0, 300)}`);
      if (/\n\s+at .*\.ts:\d+/.test(stderr))
        attackRun.fault(`${name}: ends with a stack trace: ${stderr.slice(0, 300)}`);
    }
    await remove();
  },
};
