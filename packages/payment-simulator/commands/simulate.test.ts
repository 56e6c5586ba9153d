import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serviceNames } from '../service.ts';

test('tradepost pay simulate prints the settings for a shop, with its default provider, and ends on SIGTERM', async () => {
  const script = join(import.meta.dirname, '../../../bin/tradepost.ts');
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' };
  const started = spawn(process.execPath, [script, 'pay', 'simulate', '--port', '0'], { env });
  const ended = new Promise((resolve) => started.once('close', resolve));
  try {
    let output = '';
    for (const stream of [started.stdout, started.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    await expect.poll(() => output, { timeout: 60_000 }).toContain('Ctrl-C ends it');
    expect(output).toContain('settings set stripe.api_url');
    expect([...output.matchAll(/settings set pay\.provider (\w+)$/gm)].map(([, name]) => name)).toEqual([
      ...serviceNames,
    ]);
  } finally {
    started.kill('SIGTERM');
  }
  expect(await ended).toBe(0);
});
