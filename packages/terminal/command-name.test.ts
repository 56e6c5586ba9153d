import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { asCalled, commandName } from './command-name.ts';

test('a printed command can be pasted: it begins with npx unless tradepost is on the PATH of the shell, or with the name of a wrapper', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tradepost-path-'));
  try {
    expect(commandName({ PATH: folder })).toBe('npx tradepost');
    await writeFile(join(folder, 'tradepost'), '');
    expect(commandName({ PATH: `/nowhere:${folder}` })).toBe('tradepost');
    expect(commandName({ PATH: folder, npm_command: 'exec' })).toBe('npx tradepost');
    expect(commandName({ PATH: folder, TRADEPOST_COMMAND: 'tradepost-copy' })).toBe('tradepost-copy');
  } finally {
    await rm(folder, { recursive: true });
  }
});

test.each([
  ['tradepost pay refunds, then tradepost pay retry-refund', 'copy pay refunds, then copy pay retry-refund'],
  ['Run `tradepost migrate`', 'Run `copy migrate`'],
  ['npx tradepost start', 'npx tradepost start'],
  [
    '/srv/tradepost is full; systemctl start tradepost-worker@18082',
    '/srv/tradepost is full; systemctl start tradepost-worker@18082',
  ],
])('advice names the command of this shop: %s', (advice, called) => {
  expect(asCalled(advice, 'copy')).toBe(called);
});
