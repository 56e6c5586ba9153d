import { userInfo } from 'node:os';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { runCommand } from '@tradepost/testing/processes/process';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ApiTokens, openApiTokens } from '../tokens/api-tokens.ts';
import { upstreamSettings } from '../upstreams/upstream-settings.ts';

const author = `cli (${userInfo().username})`;
/** The commands beside a running server, where their changes apply. */
let shop: Shop;
let server: ApiTokens;
let user: { id: number; username: string };
beforeAll(async () => {
  shop = await openShop();
  server = await openApiTokens(shop.server.runtime);
  user = await shop.shopper();
});
afterAll(async () => {
  await server?.close();
  await shop?.close();
});

const on = () => ['--database-url', shop.database.url];
const run = (...args: string[]) => runCommandInProcess(['gateway', ...args, ...on()]);
async function json(...args: string[]) {
  const { code, stdout, stderr } = await run(...args, '--json');
  if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  return JSON.parse(stdout);
}
async function opens(secret: string): Promise<unknown> {
  const token = await server.verify(secret);
  return typeof token === 'string' ? token : token.id;
}
const becomes = (secret: string, what: unknown) =>
  vi.waitFor(async () => expect(await opens(secret)).toBe(what), { timeout: 3_000, interval: 20 });
const trail = async () =>
  shop.database.sql`select token_id, action, changed_by from gateway.token_changes order by id desc limit 1`;

test.each([
  'token create',
  'token list',
  'token revoke',
  'token rotate',
  'limits',
  'upstream list',
  'upstream add',
  'upstream remove',
])('gateway %s --help shows an example', async (name) => {
  const { code, stdout } = await runCommandInProcess(['gateway', ...name.split(' '), '--help']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/Examples?:\n {2}\$ .*tradepost gateway/);
});

describe('token', () => {
  test('create prints the secret alone on stdout, and the secret is valid for that shopper', async () => {
    const env = { DATABASE_URL: shop.database.url };
    const args = ['gateway', 'token', 'create', '--user', user.username, '--name', 'laptop', '--expires', '30d'];
    const { code, stdout, stderr } = await runCommandInProcess(args, { env });
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^tp-[0-9A-Za-z]{48}\n$/);
    expect(stderr).toContain(stdout.slice(0, 11));
    expect(stderr).not.toContain(stdout.slice(11, -1));
    const token = await server.verify(stdout.trim());
    expect(token).toMatchObject({ userId: user.id, rpmLimit: null });
    const [row] = await json('token', 'list', '--user', String(user.id)).then(({ tokens }) => tokens);
    const days = (Date.parse(row.expires_at) - Date.now()) / 86_400_000;
    expect([row.name, Math.round(days), row.status]).toEqual(['laptop', 30, 'active']);
    expect(await trail()).toMatchObject([{ action: 'create', changed_by: author }]);
  });

  test('list shows tokens without secrets, also of one shopper or in one state', async () => {
    const made = await json('token', 'create', '--user', String(user.id), '--rpm', '5', '--tpm', '0');
    expect(made).toMatchObject({ rpm_limit: 5, tpm_limit: 0, effective: { token_rpm: 5, token_tpm: 0 } });
    await json('token', 'revoke', String(made.id));
    const plain = await run('token', 'list', '--status', 'revoked');
    expect(plain.stdout).toMatch(/^ID +PREFIX +STATUS +USER +RPM +TPM +EXPIRES/);
    expect(plain.stdout).toMatch(
      new RegExp(`^${made.id} +${made.prefix} +revoked +${user.id} .* 5 +unlimited +never`, 'm'),
    );
    expect(plain.stdout).not.toContain('laptop');
    expect(plain.stdout).not.toContain(made.secret.slice(11));
    const other = await shop.shopper();
    expect(await json('token', 'list', '--user', other.username)).toEqual({ total: 0, tokens: [] });
    expect((await run('token', 'list', '--limit', '1')).stdout).toContain('--limit shows more');
  });

  test('create takes the phone number of a shopper, who has no user name in production', async () => {
    const phone = '13800001234';
    const [shopper] = await shop.database.sql`
      insert into identity.shoppers (phone, nickname) values (${phone}, 'Ann') returning id`;
    for (const given of [phone, '+86 138-0000-1234', String(shopper!.id)])
      expect(await json('token', 'create', '--user', given)).toMatchObject({ user_id: shopper!.id });
  });

  test.each(['id', 'prefix'] as const)('revoke by %s applies on the running server and can be repeated', async (by) => {
    const made = await json('token', 'create', '--user', user.username);
    expect(await opens(made.secret)).toBe(made.id);
    const given = String(made[by]);
    const { code, stdout } = await run('token', 'revoke', given);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(`API token ${made.id}`) });
    await becomes(made.secret, 'revoked');
    expect(await trail()).toMatchObject([{ token_id: made.id, action: 'revoke', changed_by: author }]);
    expect(await json('token', 'revoke', String(made.id))).toMatchObject({ id: made.id, was_revoked: true });
  });

  test('rotate prints another secret; the old one stays valid within --grace', async () => {
    const made = await json('token', 'create', '--user', user.username);
    expect(await opens(made.secret)).toBe(made.id);
    const { code, stdout, stderr } = await run('token', 'rotate', made.prefix, '--grace', '1h');
    expect([code, stderr]).toEqual([0, expect.stringContaining('is valid until')]);
    expect(stdout).toMatch(/^tp-[0-9A-Za-z]{48}\n$/);
    expect([await opens(stdout.trim()), await opens(made.secret)]).toEqual([made.id, made.id]);
    const last = await json('token', 'rotate', String(made.id));
    await becomes(stdout.trim(), 'unknown');
    expect(await opens(last.secret)).toBe(made.id);
  });

  test.each([
    [['create'], 2, '--user'],
    [['create', '--user', 'unknown'], 1, 'there is no shopper unknown: give the phone number, the user name or the id'],
    [['create', '--user', '13800009999'], 1, 'there is no shopper 13800009999'],
    [['create', '--user', '1', '--rpm', 'many'], 2, '--rpm'],
    [['create', '--user', '1', '--expires', 'soon'], 2, '--expires'],
    [['create', '--user', '1', '--expires', '2020-01-01'], 1, 'expires_at'],
    [['list', '--status', 'bogus'], 2, '--status'],
    [['revoke'], 2, 'argument'],
    [['revoke', '999999'], 1, 'there is no API token 999999'],
    [['revoke', 'tp-'], 1, 'there is no API token'],
    [['rotate', 'tp-zzzzzzzz'], 1, 'there is no API token'],
    [['rotate', '1', '--grace', '8d'], 2, '--grace'],
    [['rotate', '1', '--grace', 'long'], 2, '--grace'],
  ])('%j ends with %i', async (args, code, said) => {
    const result = await run('token', ...args);
    expect(result).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(said) });
  });

  test('the common beginning of several secrets names no token', async () => {
    const ids = await Promise.all([1, 2].map(() => server.create({ user_id: user.id }, 'cli')));
    await shop.database
      .sql`update gateway.api_tokens set prefix = 'tp-twice000' where id = any(${ids.map(({ row }) => row.id)}::bigint[])`;
    expect(await run('token', 'revoke', 'tp-twice')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('several'),
    });
    for (const { secret, row } of ids) expect(await opens(secret)).toBe(row.id);
  });
});

describe('limits', () => {
  test('are shown, changed and reset, also on the running server', async () => {
    const { secret } = await json('token', 'create', '--user', user.username);
    expect(await json('limits', user.username)).toMatchObject({ rpm_limit: null, effective: { user_rpm: 60 } });
    const { stdout } = await run('limits', String(user.id), '--rpm', '600', '--tpm', '0');
    expect(stdout).toMatch(/requests per minute +600 +600\ntokens per minute +unlimited +unlimited/);
    await vi.waitFor(async () =>
      expect(await server.verify(secret)).toMatchObject({ userRpmLimit: 600, userTpmLimit: 0 }),
    );
    expect(await json('limits', user.username, '--rpm', 'inherit')).toMatchObject({
      ...{ rpm_limit: null, tpm_limit: 0, effective: { user_rpm: 60, user_tpm: 0 } },
    });
    expect(await trail()).toMatchObject([{ token_id: null, action: 'user_limits', changed_by: author }]);
    expect(await run('limits', 'unknown')).toMatchObject({ code: 1 });
    expect(await run('limits', user.username, '--rpm', '-1')).toMatchObject({ code: 2 });
  });
});

describe('upstream', () => {
  const key = 'sk-a-key-that-is-never-shown';
  const add = (input: string, ...args: string[]) =>
    runCommandInProcess(['gateway', 'upstream', 'add', ...args, ...on()], { input });

  test('add, list and remove; a key is stored and never shown', async () => {
    expect((await run('upstream', 'list')).stdout).toBe('no upstreams\n');
    const added = await add(
      `${key}\n`,
      'spare',
      'http://10.0.0.7:8000/v1',
      '--key-stdin',
      '--models',
      'qwen*, llama-3',
    );
    expect(added.code, added.stderr).toBe(0);
    await json('upstream', 'add', 'main', 'https://api.example.com/v1', '--key-env', 'MAIN_KEY', '--priority', '-1');
    const { settings } = shop.server.runtime;
    const stored = () => settings.list().find((row) => row.key === 'gateway.upstreams')!.value as object[];
    await vi.waitFor(() => expect(stored()).toHaveLength(2));
    expect(stored()).toMatchObject([
      { name: 'spare', api_key: key, models: ['qwen*', 'llama-3'] },
      { name: 'main', api_key: 'env:MAIN_KEY', models: ['*'], priority: -1 },
    ]);
    // Options that are not given stay.
    const replaced = await json('upstream', 'add', 'spare', 'http://10.0.0.8:8000/v1', '--replace');
    expect(replaced).toMatchObject({
      base_url: 'http://10.0.0.8:8000/v1',
      api_key: '***',
      models: ['qwen*', 'llama-3'],
    });
    const outputs = [
      ...[added.stdout, added.stderr, JSON.stringify(replaced), JSON.stringify(await json('upstream', 'list'))],
      ...[(await run('upstream', 'list')).stdout, (await runCommandInProcess(['settings', 'list', ...on()])).stdout],
      JSON.stringify((await settings.changes({ limit: 100 })).rows),
    ];
    for (const output of outputs) expect(output).not.toContain(key);
    expect(outputs[4]).toMatch(/^spare +yes +0 +\*\*\* +http:\/\/10\.0\.0\.8:8000\/v1 +qwen\* llama-3$/m);
    expect(outputs[4]).toMatch(/^main +yes +-1 +env:MAIN_KEY /m);
    await vi.waitFor(() => expect(stored()).toMatchObject([{ api_key: key }, {}]));
    expect(await json('upstream', 'remove', 'spare')).toEqual({ removed: 'spare' });
    await vi.waitFor(() => expect(stored()).toMatchObject([{ name: 'main' }]));
    expect((await settings.changes({ limit: 1 })).rows).toMatchObject([
      { key: 'gateway.upstreams', before: '***', after: '***', changed_by: author },
    ]);
  });

  test('concurrent processes that add and remove upstreams lose no change', async () => {
    const { settings } = shop.server.runtime;
    const env = { DATABASE_URL: shop.database.url };
    const url = 'http://10.0.0.9:8000/v1';
    const upstream = (...args: string[]) => runCommand(['gateway', 'upstream', ...args], { env });
    await json('upstream', 'add', 'leaves', url);
    const [removed, one, two, ...same] = await Promise.all([
      upstream('remove', 'leaves'),
      ...['par1', 'par2', 'twice', 'twice'].map((name) => upstream('add', name, url)),
    ]);
    for (const { code, stderr } of [removed, one!, two!]) expect([code, stderr]).toEqual([0, '']);
    expect(same.map(({ code }) => code).sort()).toEqual([0, 1]);
    expect(same.find(({ code }) => code === 1)!.stderr).toContain('--replace');
    const names = (await json('upstream', 'list')).map(({ name }: { name: string }) => name).sort();
    expect(names).toEqual(['main', 'par1', 'par2', 'twice']);
    await settings.update(upstreamSettings.upstreams, (all) => all.filter(({ name }) => name === 'main'));
  }, 120_000);

  test.each([
    [['add', 'main', 'https://api.example.com/v1'], 1, '--replace'],
    [['add', 'No Name', 'https://api.example.com/v1'], 2, 'name'],
    [['add', 'other', 'ftp://api.example.com'], 2, 'http'],
    [['add', 'other', 'https://api.example.com/v1', '--key-env', 'NO-NAME'], 2, '--key-env'],
    [['add', 'other', 'https://api.example.com/v1', '--priority', 'high'], 2, '--priority'],
    [['add', 'other'], 2, 'url'],
    [['remove', 'other'], 1, 'there is no upstream other'],
  ])('%j ends with %i', async (args, code, said) => {
    expect(await run('upstream', ...args)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(said) });
  });
});

test('completion knows the commands and their choices', async () => {
  const { stdout } = await runCommandInProcess(['completion', 'bash']);
  for (const line of [
    /^ *'gateway'\).*list='token limits upstream/m,
    /^ *'gateway token'\).*list='create list revoke rotate/m,
    /^ *'gateway upstream'\).*list='list add remove/m,
    /'gateway token list\|--status'.*'active revoked expired'/,
    /'gateway token create'\) flags='.*--user --name --rpm --tpm --expires/,
  ])
    expect(stdout).toMatch(line);
});
