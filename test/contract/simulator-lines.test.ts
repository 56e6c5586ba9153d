import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { commandEnvironment } from '@tradepost/testing/processes/process';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** The lines that a simulator prints, pasted into a shell that has a `tradepost` which writes its arguments to a file. */
const script = join(import.meta.dirname, '../../bin/tradepost.ts');
let folder: string;
let env: Record<string, string>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tradepost-lines-'));
  const recorder = `#!/bin/sh\n{ printf '%s\\n' "$*"; } >> "$RECORDED"\ncat > /dev/null\n`;
  await writeFile(join(folder, 'tradepost'), recorder, { mode: 0o755 });
  env = commandEnvironment({
    PATH: [folder, process.env.PATH].join(delimiter),
    RECORDED: join(folder, 'recorded'),
    WMS_APP_SECRET: 'a secret of sixteen or more',
  });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function linesOf(...args: string[]): Promise<string[]> {
  const child = spawn(process.execPath, [script, ...args, '--port', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const chunk of child.stdout) {
    output += chunk;
    // What follows the lines: how the simulator ends, or the first counters.
    if (/Ctrl-C|app_secret\n/.test(output)) break;
  }
  child.kill('SIGKILL');
  return output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^(printf|export|tradepost) /.test(line));
}

test.each([
  ['wms', 6, 'settings set inventory.provider external_wms'],
  ['carriers', 7, 'settings set logistics_router.polling_enabled true'],
  ['pay', 16, 'settings set stripe.secret_key'],
  ['ai', 4, 'ai models add Simulator openai openai --endpoint'],
])('%s simulate prints lines that a shell runs', async (group, commands, one) => {
  const lines = await linesOf(group, 'simulate');
  await writeFile(env.RECORDED!, '');
  const { status, stderr } = spawnSync('sh', ['-eu', '-c', lines.join('\n')], { env, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const recorded = (await readFile(env.RECORDED!, 'utf8')).trim().split('\n');
  expect(recorded).toHaveLength(commands);
  expect(recorded.some((line) => line.startsWith(one))).toBe(true);
});
