import { PassThrough } from 'node:stream';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSecret } from './read-secret.ts';

/** A secret on a command line is visible in the process list and in the history of the shell, so no command accepts it. */
const secret = 'hunter2-hunter2-hunter2';
let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());
const onShop = () => ['--database-url', shop.database.url];
const run = (args: string[], input?: string) =>
  runCommandInProcess([...args, ...onShop()], input === undefined ? {} : { input });
/** The value that servers use. */
async function stored(key: string): Promise<unknown> {
  await shop.server.runtime.settings.reload();
  return shop.server.runtime.settings.list().find((row) => row.key === key)?.value;
}

describe('on the command line', () => {
  test.each([
    ['settings', 'set', 'pay.sandbox.secret', secret],
    ['settings', 'set', 'external_wms.app_secret', secret],
    ['settings', 'set', 'gateway.upstreams', `[{"name":"a","base_url":"http://a","api_key":"${secret}"}]`],
    ['token', 'inspect', `${secret}.b.c`],
    ['token', 'revoke', `${secret}.b.c`],
    ['gateway', 'token', 'revoke', `tp-${secret}`],
    ['gateway', 'token', 'rotate', `tp-${secret}`],
    ['limiter', 'inspect', `tp-${secret}`],
    ['limiter', 'reset', `token:tp-${secret}`],
    ['pay', 'callback', '--order', '1', '--secret', secret],
  ])('%s %s %s with a secret is refused, says how, and does not repeat it', async (...args) => {
    const { code, stdout, stderr } = await run(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(/can read the command line: .{10}/);
    expect(stdout + stderr).not.toContain(secret);
  });

  test.each([
    ['limiter', 'load', '--url', 'http://127.0.0.1:9', '--token', secret],
    ['limiter', 'load', '--url', 'http://127.0.0.1:9', '--admin-token', secret],
    ['wms', 'simulate', '--app-secret', secret],
    ['demo', '--password', secret],
    ['demo', '--admin-password', secret],
  ])('%s %s with a secret is refused too', async (...args) => {
    const { code, stdout, stderr } = await runCommandInProcess(args);
    expect(code).toBe(2);
    expect(stderr).toContain('can read the command line');
    expect(stdout + stderr).not.toContain(secret);
  });

  test('a password in a database or Redis address causes one warning, which does not contain it', async () => {
    const nowhere = ['--database-url', `postgres://shop:${secret}@127.0.0.1:1/shop`];
    const args = ['settings', 'set', 'shop.locale', 'en', ...nowhere, '--redis-url', `redis://:${secret}@127.0.0.1:1`];
    // A second command line of the same process is warned of too.
    for (const { code, stderr } of [await runCommandInProcess(args), await runCommandInProcess(args)]) {
      expect(code).toBe(1);
      expect(stderr.match(/warning: --database-url holds a password/g)).toHaveLength(1);
      expect(stderr).toContain('use REDIS_URL');
      expect(stderr).not.toContain(secret);
    }
    expect((await runCommandInProcess(['config', '--database-url', 'postgres://shop@127.0.0.1:1/shop'])).stderr).toBe(
      '',
    );
  });

  test('no help shows an option that takes a secret', async () => {
    const { stdout } = await runCommandInProcess(['completion', 'bash']);
    expect(stdout).not.toMatch(/--(secret|token|admin-token|app-secret|password|admin-password)\b(?!-)/);
  });
});

describe('on standard input', () => {
  test('a secret setting is stored as text, with or without a newline and -, and never printed', async () => {
    for (const [args, input, value] of [
      [['settings', 'set', 'pay.sandbox.secret'], `${secret}\n`, secret],
      [['settings', 'set', 'pay.sandbox.secret', '-'], '1234567890123456', '1234567890123456'],
    ] as const) {
      expect(await run([...args], input)).toMatchObject({ code: 0, stdout: 'pay.sandbox.secret = ***\n' });
      expect(await stored('pay.sandbox.secret')).toBe(value);
    }
    const upstreams = [{ name: 'a', base_url: 'http://127.0.0.1:9/v1', api_key: secret }];
    expect((await run(['settings', 'set', 'gateway.upstreams'], JSON.stringify(upstreams))).code).toBe(0);
    expect(await stored('gateway.upstreams')).toMatchObject(upstreams);
    const [row] = await shop.database.sql`select string_agg(s::text, '') as text from runtime.settings s`;
    expect(row!.text).not.toContain(secret);
  });

  test('the mask of a secret is refused, so that the secret is not replaced by it', async () => {
    const before = await stored('pay.sandbox.secret');
    const answer = await run(['settings', 'set', 'pay.sandbox.secret'], '***');
    expect(answer).toMatchObject({ code: 2, stderr: expect.stringContaining('shown instead of a secret') });
    expect(await stored('pay.sandbox.secret')).toEqual(before);
  });

  test.each([
    ['', 'is empty'],
    ['two\nlines', 'one line only'],
    ['x'.repeat(70_000), 'more than 65536 characters'],
  ])('%.9s is refused', async (input, said) => {
    const before = await stored('pay.sandbox.secret');
    const answer = await run(['settings', 'set', 'pay.sandbox.secret'], input);
    expect(answer).toMatchObject({ code: 2, stderr: expect.stringContaining(said) });
    expect(await stored('pay.sandbox.secret')).toEqual(before);
  });

  test('a setting that is not a secret is given on the command line, and must be', async () => {
    expect(await run(['settings', 'set', 'orders.unpaid_minutes', '20'])).toMatchObject({ code: 0 });
    expect(await run(['settings', 'set', 'orders.unpaid_minutes'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the value is missing'),
    });
  });

  test('digits are stored as text where the setting is a text', async () => {
    expect(await run(['settings', 'set', 'logistics_kdniao.ebusiness_id', '1000001'])).toMatchObject({ code: 0 });
    expect(await stored('logistics_kdniao.ebusiness_id')).toBe('1000001');
  });
});

describe('a secret typed at a terminal', () => {
  const terminal = () => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    const output = new PassThrough();
    let shown = '';
    output.on('data', (chunk) => {
      shown += String(chunk);
    });
    return { streams: { input, output }, type: (text: string) => input.write(text), shown: () => shown };
  };

  test('is requested by a prompt and not shown', async () => {
    const { streams, type, shown } = terminal();
    const read = readSecret('Secret', { streams });
    type(`${secret}\r`);
    expect(await read).toBe(secret);
    expect(shown()).toBe('Secret: \n');
  });

  test('is typed twice for a new password, and both inputs must be equal', async () => {
    for (const [second, outcome] of [
      [secret, secret],
      ['other', 'the two differ'],
    ] as const) {
      const { streams, type } = terminal();
      const read = readSecret('Password', { confirm: true, streams }).catch((error: Error) => error.message);
      type(`${secret}\r`);
      await new Promise((resolve) => setTimeout(resolve, 50));
      type(`${second}\r`);
      expect(await read).toContain(outcome);
    }
  });

  test('is not accepted when Ctrl-C or the end of the input comes first', async () => {
    for (const end of ['\u0003', '\u0004']) {
      const { streams, type } = terminal();
      const read = readSecret('Secret', { streams });
      type(end);
      await expect(read).rejects.toThrow('nothing was given');
    }
  });
});
