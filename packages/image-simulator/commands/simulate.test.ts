import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, expect, test } from 'vitest';

let database: TestDatabase;
let folder: string;
let child: ChildProcess | undefined;
beforeAll(async () => {
  [database, folder] = await Promise.all([cloneDatabase(), mkdtemp(join(tmpdir(), 'tradepost-ai-simulate-'))]);
});
afterAll(async () => {
  child?.kill('SIGKILL');
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

test('tradepost ai simulate prints the commands that set up a shop, has the planned faults, and ends on SIGTERM', async () => {
  const script = join(import.meta.dirname, '../../../bin/tradepost.ts');
  const args = ['ai', 'simulate', '--port', '0', '--latency-ms', '0', '--plan', 'error,none'];
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' };
  const started = spawn(process.execPath, [script, ...args], { env });
  child = started;
  const ended = new Promise((resolve) => started.on('close', resolve));
  let output = '';
  for (const stream of [started.stdout, started.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  await expect.poll(() => output, { timeout: 60_000 }).toContain('Ctrl-C');
  const network = /^export ALLOWED_PRIVATE_NETWORKS=(\S+)$/m.exec(output)![1]!;
  const lines = [...output.matchAll(/^printf %s (\S+) \| (?:npx )?tradepost (.*)$/gm)];
  expect(lines.length).toBeGreaterThan(1);
  for (const [, key, command] of lines) {
    const words = command!.match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', ''));
    const added = await runCommandInProcess([...words, '--database-url', database.url, '--data', folder], {
      env: { ALLOWED_PRIVATE_NETWORKS: network },
      input: key!,
    });
    expect(added.code, added.stderr).toBe(0);
  }
  const [, key, command] = lines.find(([line]) => line.includes(' openai '))!;
  const endpoint = /--endpoint (\S+)/.exec(command!)![1]!;
  const draw = async () => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ prompt: 'a mug', size: '64x64' });
    return (await fetch(`${endpoint}/images/generations`, { method: 'POST', headers, body })).status;
  };
  expect([await draw(), await draw()]).toEqual([500, 200]);
  started.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(output).toContain('requests 2, pictures 1, refused 0; faults: error 1');
});

test.each([
  [['--fault', 'error=2'], 'a share, like error=0.3'],
  [['--fault', 'flood=0.1'], 'The faults are: rate_limit'],
  [['--fault', 'error=0.7', '--fault', 'hang=0.7'], 'more than 1'],
  [['--plan', 'error,flood'], 'The faults are: rate_limit'],
  [['--answers', 'jpeg'], '--answers'],
  [['--port', '99999'], '--port'],
])('%j is wrong usage', async (args, reason) => {
  const { code, stderr } = await runCommandInProcess(['ai', 'simulate', ...args]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
});
