import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { afterEach, describe, expect, test } from 'vitest';
import { appKey, appSecret, call } from '../test-shop.ts';

const script = join(import.meta.dirname, '../../../bin/tradepost.ts');
let child: ChildProcess | undefined;
afterEach(() => child?.kill('SIGKILL'));

/** Runs `tradepost wms simulate` as a process. Resolves when it prints its URL. */
async function start(args: readonly string[]) {
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', WMS_APP_SECRET: appSecret };
  const started = spawn(process.execPath, [script, 'wms', 'simulate', '--port', '0', '--app-key', appKey, ...args], {
    env,
  });
  child = started;
  let output = '';
  const ended = new Promise<number | null>((resolve) => started.on('close', resolve));
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      const match = /http:\/\/127\.0\.0\.1:\d+/.exec(output);
      if (match) resolve(match[0]);
    };
    started.stdout!.on('data', read);
    started.stderr!.on('data', read);
    void ended.then((code) => reject(new Error(`ended with ${code}: ${output}`)));
  });
  return { url, child: started, ended, output: () => output };
}
const reserve = (url: string) =>
  call(url, '/reserve', { biz_type: 'order', biz_no: 'A', items: [{ sku_id: 1, qty: 2 }] });

describe('tradepost wms simulate', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    'prints the settings for a shop, serves calls, and prints the ledger on %s',
    async (signal) => {
      const { url, child, ended, output } = await start(['--stock', '10']);
      expect(await reserve(url)).toMatchObject({ code: 0 });
      child.kill(signal);
      expect(await ended).toBe(0);
      expect(output()).toContain(`tradepost settings set external_wms.endpoint ${url}\n`);
      expect(output()).toContain(`tradepost settings set external_wms.app_key ${appKey}\n`);
      expect(output()).toContain('tradepost settings set inventory.external_mode sync\n');
      expect(output()).toMatch(/SKUs +1, 2 pieces reserved/);
      expect(output()).toMatch(/Documents +reserved 1/);
      expect(output()).not.toContain(appSecret);
    },
  );

  test('ends quietly when its output is closed, as by head -1', async () => {
    const { child, ended, output } = await start(['--json', '--every', '1']);
    child.stdout!.destroy();
    expect(await ended).toBe(0);
    expect(output().trim().split('\n')).toHaveLength(1);
  });

  test('prints JSON lines: ready, counters, ledger', async () => {
    const { url, child, ended, output } = await start([
      '--json',
      '--every',
      '1',
      '--fail-rate',
      '1',
      '--fail-codes',
      '1002',
    ]);
    expect(await reserve(url)).toMatchObject({ code: 1002 });
    await expect.poll(() => output().split('\n').length, { timeout: 10_000 }).toBeGreaterThan(2);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    const lines = output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ event: 'ready', url, failRate: 1, failCodes: [1002] });
    expect(lines[1]).toMatchObject({ event: 'counters', calls: 1 });
    expect(lines.at(-1)).toMatchObject({ event: 'ledger', counters: { faults: { fail: 1 } } });
  });

  test('wrong usage ends with exit code 2 and the reason', async () => {
    const secret = ['--app-secret-stdin'];
    const cases: [string[], string][] = [
      [[], 'WMS_APP_SECRET'],
      [[...secret, '--fail-rate', '2'], 'a share from 0 to 1'],
      [[...secret, '--fail-rate', '0.7', '--hang-rate', '0.7'], '--hang-rate'],
      [[...secret, '--callbacks', 'async'], '--callback-url'],
      [[...secret, '--callbacks', 'sometimes'], 'none, async'],
      [[...secret, '--fail-codes', '1001,x'], '--fail-codes'],
      [[...secret, '--port', '99999'], '--port'],
    ];
    for (const [args, reason] of cases) {
      const { code, stderr } = await runCommandInProcess(['wms', 'simulate', ...args], { input: 'x' });
      expect([args, code]).toEqual([args, 2]);
      expect(stderr).toContain(reason);
    }
  });
});
