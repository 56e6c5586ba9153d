import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { runCommand } from '@tradepost/testing/processes/process';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

/** The commands change a running server: tokens that they end are void there. */
let shop: Shop;
let folder: string;
let env: Record<string, string>;
beforeAll(async () => {
  shop = await openShop();
  folder = await mkdtemp(join(tmpdir(), 'tradepost-identity-cli-'));
  env = { DATABASE_URL: shop.database.url, TRADEPOST_DATA: folder };
  expect((await run(['staff', 'create', 'boss'], 'boss-secret')).code).toBe(0);
  expect((await run(['staff', 'create', 'ann', '--password-stdin'], undefined, 'ann-secret\n')).code).toBe(0);
});
afterAll(async () => {
  await shop?.close();
  await rm(folder, { recursive: true, force: true });
});

const run = (args: string[], password?: string, input = '') =>
  runCommandInProcess(args, { env: { ...env, ...(password ? { TRADEPOST_PASSWORD: password } : {}) }, input });
const json = async (args: string[], password?: string, input = '') => {
  const { code, stdout, stderr } = await run([...args, '--json'], password, input);
  if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  return JSON.parse(stdout);
};
const statusOf = async (token: string) => (await shop.call('GET', '/api/auth/profile', { token })).status;
const becomes = (token: string, status: number) =>
  vi.waitFor(async () => expect(await statusOf(token)).toBe(status), { timeout: 3_000, interval: 20 });

test('staff create without a role is refused when the role Administrator no longer has all permissions', async () => {
  const { sql } = shop.database;
  await sql`update identity.roles set permissions = '{order:view}' where name = 'Administrator'`;
  try {
    const created = await run(['staff', 'create', 'eve'], 'eve-secret');
    expect(created).toMatchObject({ code: 1, stderr: expect.stringContaining('no longer has all permissions') });
    expect((await run(['staff', 'create', 'eve', '--role', 'Administrator'], 'eve-secret')).code).toBe(0);
  } finally {
    await sql`update identity.roles set permissions = '{*}' where name = 'Administrator'`;
    await sql`delete from identity.staff where username = 'eve'`;
  }
});

test.each(['rotate', 'issue', 'inspect', 'revoke'])('token %s --help shows an example', async (name) => {
  const { code, stdout } = await runCommandInProcess(['token', name, '--help']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/Examples?:\n {2}\$ .*tradepost/);
});
test.each(['create', 'passwd', 'disable', 'enable', 'list'])('staff %s --help shows an example', async (name) => {
  const { code, stdout } = await runCommandInProcess(['staff', name, '--help']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/Examples?:\n {2}\$ .*tradepost/);
});

describe('staff', () => {
  test('list shows all administrators, and no hash', async () => {
    const { stdout } = await run(['staff', 'list', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([
      { id: 1, username: 'boss', role_name: 'Administrator', permissions: ['*'], status: 1 },
      { id: 2, username: 'ann' },
    ]);
    expect(stdout).not.toContain('argon2');
    expect((await run(['staff', 'list'])).stdout).toMatch(/ID +NAME +ROLE/);
  });

  test('passwd and disable end the tokens of the account on the running server; enable allows a login again', async () => {
    const before = await shop.login('ann', 'ann-secret');
    await json(['staff', 'passwd', 'ann'], 'ann-secret-2');
    await becomes(before, 401);
    const after = await shop.login('ann', 'ann-secret-2');
    expect(await statusOf(after)).toBe(200);
    expect(await json(['staff', 'disable', 'ann'])).toMatchObject({ username: 'ann', status: 0 });
    await becomes(after, 401);
    await expect(shop.login('ann', 'ann-secret-2')).rejects.toThrow('Account disabled');
    expect(await json(['staff', 'enable', 'ann'])).toMatchObject({ status: 1 });
    await shop.login('ann', 'ann-secret-2');
  });

  test('wrong input ends with 2, an unknown or protected account with 1, both with a reason', async () => {
    expect(await run(['staff', 'passwd', 'ann'], 'short')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('at least 8'),
    });
    // A process of its own, without the terminal of the tests: the command would ask there.
    for (const command of ['create', 'passwd'])
      expect(await runCommand(['staff', command, 'ann'], { env, detached: true })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('TRADEPOST_PASSWORD'),
      });
    expect(
      await run(['staff', 'create', 'eve', '--password-stdin'], undefined, 'two long\nlines here\n'),
    ).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('one line'),
    });
    expect(await run(['staff', 'disable', 'unknown'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('unknown'),
    });
    expect(await run(['staff', 'disable', 'boss'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('first administrator'),
    });
  });
});

describe('token', () => {
  test('issue prints a valid token for both kinds of account', async () => {
    const { stdout } = await run(['token', 'issue', '--staff', 'boss', '--hours', '1']);
    expect((await shop.call('GET', '/admin/api/admins', { token: stdout.trim() })).code).toBe(0);
    const { id } = await shop.shopper();
    const { token, ...rest } = await json(['token', 'issue', '--user', String(id), '--hours', '2']);
    expect(rest).toMatchObject({ role: 'user', user_id: id });
    expect(Date.parse(rest.expires_at) - Date.now()).toBeGreaterThan(1.9 * 3_600_000);
    expect(await statusOf(token)).toBe(200);
    expect(await run(['token', 'issue'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--user') });
    expect((await run(['token', 'issue', '--user', '999999'])).code).toBe(1);
    expect((await run(['token', 'issue', '--staff', 'boss', '--hours', '0'])).code).toBe(2);
  });

  test('inspect shows the account and whether the token is valid, also by its exit code; it shows no key', async () => {
    const token = await shop.login('boss', 'boss-secret');
    const good = await json(['token', 'inspect'], undefined, token);
    expect(good).toMatchObject({
      valid: true,
      reason: '',
      perms: ['*'],
      account: { role: 'admin', id: 1, name: 'boss' },
    });
    const human = await run(['token', 'inspect', '-'], undefined, `Bearer ${token}\n`);
    expect(human).toMatchObject({ code: 0, stdout: expect.stringMatching(/valid +yes/) });
    const [key] = await shop.database.sql<{ secret: Buffer }[]>`select secret from identity.signing_keys`;
    for (const encoding of ['hex', 'base64', 'base64url'] as const)
      expect(human.stdout).not.toContain(key!.secret.toString(encoding));
    const [head, body] = token.split('.');
    const ended = await shop.login('boss', 'boss-secret');
    await shop.call('POST', '/api/auth/logout', { token: ended });
    for (const [bad, reason] of [
      ['garbage', 'no JWT'],
      [`${head}.${body}.AAAA`, 'signature'],
      [ended, 'revoked'],
    ] as const) {
      const { code, stdout } = await run(['token', 'inspect', '--json'], undefined, bad);
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ valid: false, reason: expect.stringContaining(reason) });
    }
  });

  test('revoke ends one token, given as a token or as an id, or all tokens of an account', async () => {
    const { id, token } = await shop.shopper();
    const [a, b, c] = await Promise.all([1, 2, 3].map(() => shop.server.tokens.issue({ role: 'user', id, perms: [] })));
    await json(['token', 'revoke', '-'], undefined, a!);
    await becomes(a!, 401);
    const { jti } = await json(['token', 'inspect'], undefined, b!);
    await json(['token', 'revoke', jti]);
    await becomes(b!, 401);
    expect([await statusOf(token), await statusOf(c!)]).toEqual([200, 200]);
    await json(['token', 'revoke', '--user', String(id)]);
    for (const one of [token, c!]) await becomes(one, 401);
    const boss = await shop.login('boss', 'boss-secret');
    await json(['token', 'revoke', '--staff', 'boss']);
    await becomes(boss, 401);
    const { stdout } = await run(['token', 'inspect'], undefined, boss);
    expect(stdout).toContain('ended');
    for (const wrong of [[], ['garbage'], ['a.b.c'], [jti, '--staff', 'boss']])
      expect(await run(['token', 'revoke', ...wrong])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('error:'),
      });
  });

  test('rotate keeps old tokens valid; with --revoke-old they end', async () => {
    const { id, token } = await shop.shopper();
    const { kid } = await json(['token', 'rotate']);
    const fresh = (await json(['token', 'issue', '--user', String(id)])).token;
    expect((await json(['token', 'inspect'], undefined, fresh)).kid).toBe(kid);
    for (const one of [token, fresh]) await becomes(one, 200);
    expect((await json(['token', 'rotate', '--revoke-old'])).revoked_keys).toBe(2);
    for (const one of [token, fresh]) await becomes(one, 401);
    const { stdout, code } = await run(['token', 'inspect'], undefined, token);
    expect(code).toBe(1);
    expect(stdout).toContain('does not have');
    expect(await statusOf(await shop.login('boss', 'boss-secret'))).toBe(200);
  });
});
