import { chmod, copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findEmbeddedPostgres } from '@tradepost/embedded-postgres';
import { openDatabase } from '@tradepost/postgres';
import { openLog, openSecrets } from '@tradepost/runtime';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { startProcess } from '@tradepost/testing/processes/process';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { version } from '../version.ts';

type Finding = { id: string; area: string; level: string; what: string; todo: string };

let database: TestDatabase;
let folder: string;
let files = 0;
beforeAll(async () => {
  database = await cloneDatabase();
  folder = await mkdtemp(join(tmpdir(), 'tradepost-doctor-'));
});
afterAll(async () => {
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

/** The findings for a configuration file. Port 0, so that other programs of this machine have no influence. */
async function findings(config: object, ...args: string[]): Promise<{ code: number; findings: Finding[] }> {
  files += 1;
  const file = join(folder, `config${files}.json`);
  await writeFile(file, JSON.stringify({ port: 0, data: join(folder, 'data'), ...config }), { mode: 0o600 });
  const { code, stdout } = await runCommandInProcess(['doctor', '--json', '--config', file, ...args], {
    // A level in the environment would take precedence over the files.
    env: { LOG_LEVEL: '', TRADEPOST_SECRETS_KEY_FILE: '' },
  });
  const found = JSON.parse(stdout);
  for (const { id, area, level, todo } of found.findings as Finding[]) {
    if (level === 'ok') continue;
    expect(todo).not.toBe('');
    expect(id === 'doctor/not-checked' || id.startsWith(`${area.replace(' ', '-')}/`)).toBe(true);
  }
  return { code, findings: found.findings };
}
const of = (found: Finding[], area: string) => found.filter((each) => each.area === area);
const texts = (found: Finding[], level: string) =>
  found.filter((each) => each.level === level).map((each) => each.what);

test('a server without a free connection is named as such, and not as one that cannot be reached', async () => {
  const full = new URL(database.url);
  [full.username, full.password] = [`full_${Date.now()}`, 'secret'];
  await database.sql.unsafe(`create role ${full.username} login password 'secret' connection limit 0`);
  const { code, findings: found } = await findings({ databaseUrl: full.toString() });
  await database.sql.unsafe(`drop role ${full.username}`);
  expect(code).toBe(1);
  expect(of(found, 'database')).toMatchObject([
    { id: 'database/connections-used-up', level: 'error', what: expect.stringContaining('has no connection left') },
  ]);
});

test('checks every area of a healthy shop, without errors, as JSON and as text', async () => {
  const { code, findings: found } = await findings({ databaseUrl: database.url });
  expect(texts(found, 'error')).toEqual([]);
  expect(code).toBe(0);
  expect([...new Set(found.map((each) => each.area))]).toEqual([
    'configuration',
    'platform',
    'database',
    'migrations',
    'accounts',
    'settings',
    'secrets',
    'change log',
    'jobs',
    'payments',
    'events',
    'processes',
    'uploads',
    'messages',
    'backups',
    'refunds',
    'warehouse',
    'carriers',
    'webhooks',
    'gateway',
    'ai images',
    'store',
    'data folder',
    'network',
  ]);
  const asText = await runCommandInProcess(['doctor'], {
    env: { DATABASE_URL: database.url, PORT: '0', TRADEPOST_DATA: folder },
  });
  expect(asText.code).toBe(0);
  expect(asText.stdout).toMatch(/^database\n {2}ok {7}PostgreSQL \d+/m);
  expect(asText.stdout).toMatch(/^0 errors, \d+ warnings?, \d+ notes?$/m);
});

test('changes nothing: no key, no folder, no migration, no server', async () => {
  const empty = join(folder, 'nothing here');
  const { code, findings: found } = await findings({ data: empty });
  expect(code).toBe(0);
  expect(of(found, 'database')).toMatchObject([{ level: 'note', todo: expect.stringContaining('tradepost start') }]);
  await expect(readdir(empty)).rejects.toThrow('ENOENT');
  expect(await database.sql`select kid from identity.signing_keys`).toHaveLength(0);
});

test('reports a database and a store that do not answer as findings, without secrets', async () => {
  const { code, findings: found } = await findings({
    databaseUrl: 'postgres://shop:hunter2@127.0.0.1:1/shop',
    redisUrl: 'redis://:hunter2@127.0.0.1:1',
  });
  expect(code).toBe(1);
  expect(of(found, 'database')).toMatchObject([{ level: 'error', what: expect.stringContaining('127.0.0.1:1') }]);
  expect(of(found, 'store')).toMatchObject([{ level: 'error', what: expect.stringContaining('does not answer') }]);
  expect(JSON.stringify(found)).not.toContain('hunter2');
  const missing = new URL(database.url);
  missing.pathname = '/not_there';
  const noDatabase = await findings({ databaseUrl: missing.toString() });
  expect(of(noDatabase.findings, 'database')).toMatchObject([
    { level: 'error', todo: `createdb --owner=${missing.username} --encoding=UTF8 --template=template0 not_there` },
  ]);
});

test('names the right that an account lacks, and the statement that gives it, before a migration fails', async () => {
  const account = `doctor_${process.pid}`;
  const url = new URL(database.url);
  const name = url.pathname.slice(1);
  Object.assign(url, { username: account, password: 'secret' });
  const grant = `grant create on database ${name} to ${account}`;
  await database.sql.unsafe(`create role ${account} login password 'secret'`);
  try {
    const { findings: found } = await findings({ databaseUrl: url.toString() });
    expect(found).toContainEqual(
      expect.objectContaining({ id: 'database/no-create-right', todo: expect.stringContaining(grant) }),
    );
    const migrated = await runCommandInProcess(['migrate'], { env: { DATABASE_URL: url.toString() } });
    expect(migrated).toMatchObject({ code: 1, stderr: expect.stringContaining(grant) });
  } finally {
    await database.sql.unsafe(`drop role ${account}`);
  }
});

test('reports each problem of an invalid configuration, and still checks the platform', async () => {
  const { code, findings: found } = await findings({ prot: 1, batchMax: 0 });
  expect(code).toBe(1);
  expect(texts(of(found, 'configuration'), 'error')).toHaveLength(2);
  expect(of(found, 'platform').length).toBeGreaterThan(2);
});

test('reports stored secrets that the key file does not open, with the remedy, and creates no key file', async () => {
  const { sql } = database;
  const right = join(folder, 'right.key');
  const secrets = openSecrets({ sql, file: right, log: openLog({ level: 'silent' }) });
  await secrets.seal('a', 'b');
  const sealed = await secrets.seal('runtime.settings:pay.sandbox.secret', '"hunter2-hunter2-hunter2"');
  await sql`insert into runtime.settings (key, value) values ('pay.sandbox.secret', to_jsonb(${sealed}::text))`;
  try {
    const healthy = await findings({ databaseUrl: database.url, secretsKeyFile: right });
    expect(of(healthy.findings, 'secrets').map(({ level }) => level)).toEqual(['ok']);
    const { code, findings: found } = await findings({
      databaseUrl: database.url,
      secretsKeyFile: join(folder, 'no.key'),
    });
    expect(code).toBe(1);
    expect(of(found, 'secrets')).toMatchObject([
      {
        level: 'error',
        what: expect.stringMatching(/no\.key is missing.*put the kept copy back.*1 stored secret counts as not set$/),
      },
    ]);
    await chmod(right, 0o644);
    const open = await findings({ databaseUrl: database.url, secretsKeyFile: right });
    expect(open.findings.filter(({ level }) => level === 'error')).toMatchObject([
      { id: 'secrets/key-file', what: expect.stringContaining(`chmod 600 ${right}`) },
    ]);
    // A file that has a newer key and lost the one of the setting.
    await chmod(right, 0o600);
    const newer = join(folder, 'newer.key');
    await copyFile(right, newer);
    const rotated = openSecrets({ sql, file: newer, log: openLog({ level: 'silent' }) });
    await rotated.addKey();
    await rotated.seal('a', 'b');
    await writeFile(newer, (await readFile(newer, 'utf8')).replace(/.+\n$/, ''));
    const lost = await findings({ databaseUrl: database.url, secretsKeyFile: newer });
    expect(of(lost.findings, 'secrets')).toMatchObject([
      {
        id: 'secrets/unreadable',
        what: expect.stringContaining('pay.sandbox.secret'),
        todo: expect.stringContaining('settings set'),
      },
    ]);
    expect(texts(of(found, 'settings'), 'error')).toEqual([]);
    expect(await readdir(folder)).not.toContain('no.key');
  } finally {
    await sql`delete from runtime.settings where key = 'pay.sandbox.secret'`;
    await sql`delete from runtime.secret_keys`;
  }
});

test('says that the free space is not known where the file system does not report it', async () => {
  // /proc has no blocks. It is also not writable.
  const { findings: found } = await findings({ databaseUrl: database.url, data: '/proc/self' });
  expect(of(found, 'data folder').map(({ id, level }) => `${level} ${id}`)).toContain('note data-folder/unknown-space');
  expect(JSON.stringify(found)).not.toContain('0 B of 0 B');
});

test('a process of this database serves on a port that the command does not know; without a worker this is a warning in production', async () => {
  const sql = openDatabase(database.url, { max: 1, name: 'tradepost process 0.2.0 a p 0 eeeeeeee' });
  const port = 1;
  try {
    expect(of((await findings({ databaseUrl: database.url, port })).findings, 'network').map(({ id }) => id)).toEqual([
      'network/not-running',
    ]);
    await sql`select 1`;
    const { findings: found } = await findings({ databaseUrl: database.url, port, production: true });
    expect(of(found, 'network')).toEqual([]);
    expect(of(found, 'jobs')).toMatchObject([{ level: 'warning', id: 'jobs/no-worker' }]);
  } finally {
    await sql.end({ timeout: 1 });
  }
});

test('names the data folder that cannot be made, and not the one above it', async () => {
  const file = join(folder, 'a file');
  await writeFile(file, '');
  const data = join(file, 'data');
  const { findings: found } = await findings({ databaseUrl: database.url, data });
  expect(of(found, 'data folder').filter(({ level }) => level === 'error')).toMatchObject([
    {
      id: 'data-folder/not-writable',
      what: `the folder ${data} cannot be made: ${file} is not a folder`,
      todo: `move ${file} away, or --data with another folder`,
    },
  ]);
  expect(found.map(({ id }) => id)).not.toContain('data-folder/missing');
});

test('names a variable that is not known and looks like one that is not set', async () => {
  const env = { DATABASE_URL: database.url, PORT: '0', TRADEPOST_DATA: folder, TRUSTED_PROXY: '10.0.0.1' };
  const { stdout } = await runCommandInProcess(['doctor'], { env });
  expect(stdout).toContain('the variable TRUSTED_PROXY has no effect, and TRUSTED_PROXIES is not set');
  expect(stdout).toContain('[configuration/misspelt-variable]');
});

test('warns of risky values', async () => {
  const warned = async (config: object) =>
    texts(of((await findings({ databaseUrl: database.url, ...config })).findings, 'configuration'), 'warning').join(
      '\n',
    );
  expect(await warned({})).toBe('');
  expect(await warned({ host: '0.0.0.0' })).toMatch(/demo accounts[\s\S]*no PUBLIC_URL/);
  const { findings: found } = await findings({ databaseUrl: database.url, production: true });
  expect(texts(of(found, 'configuration'), 'error')).toEqual([expect.stringContaining('no PUBLIC_URL')]);
  expect(await warned({ production: true, publicUrl: 'http://shop.example' })).toContain('not https');
  const open = { production: true, publicUrl: 'https://shop.example' };
  expect(await warned(open)).toContain('TRUSTED_PROXIES is not set');
  expect(await warned({ ...open, trustedProxies: ['127.0.0.1'] })).toBe('');
  expect(await warned({ tokenHours: 8000 })).toContain('8000 hours');
  expect(await warned({ logLevel: 'silent' })).toContain('silent');
  expect(await warned({ only: ['worker'] })).toContain('REDIS_URL');
  const file = join(folder, 'open.json');
  await writeFile(file, JSON.stringify({ databaseUrl: database.url, data: folder, port: 0 }));
  await chmod(file, 0o644);
  expect((await runCommandInProcess(['doctor', '--config', file])).stdout).toContain(`chmod 600 ${file}`);
});

describe('settings for development', () => {
  const safe = { 'pay.instant': false, 'sms.provider': 'off' };
  const development = async (settings: object, config: object = {}) =>
    of(
      (await findings({ databaseUrl: database.url, production: true, settings: { ...safe, ...settings }, ...config }))
        .findings,
      'development',
    );
  test.each<[string, object, string, object?]>([
    ['instant payment', { 'pay.instant': true }, 'without money'],
    ['the instant provider as default', { 'pay.provider': 'instant' }, 'pay.provider'],
    ['a sandbox without a gateway', { 'pay.sandbox.secret': 'a secret of sixteen or more' }, 'pay.sandbox.cashier_url'],
    ['a sandbox that cannot refund', { 'pay.sandbox.secret': 'a secret of sixteen or more' }, 'refund_url'],
    ['a secret of the documentation', { 'external_wms.app_secret': 'demo-secret' }, 'external_wms.app_secret'],
    ['login codes in answers', { 'sms.provider': 'test' }, 'sms.provider is test'],
    ['another WeChat endpoint', { 'wechat_auth.endpoint': 'http://127.0.0.1:9000/' }, 'which is not WeChat'],
    ['a simulated Stripe', { 'stripe.api_url': 'http://127.0.0.1:9094' }, 'which is not Stripe'],
    ['another WeChat Pay', { 'wechat_pay.api_url': 'https://pay.example/wechat' }, 'which is not WeChat Pay'],
    ['another Alipay', { 'alipay.gateway_url': 'http://localhost:9094/alipay' }, 'which is not Alipay'],
    ['a secret key of test mode', { 'stripe.secret_key': 'sk_test_12345678' }, 'move no money'],
    ['a restricted key of test mode', { 'stripe.secret_key': 'rk_test_12345678' }, 'move no money'],
    ['demo data', {}, 'TRADEPOST_SEED', { seed: 'demo' }],
  ])('%s is an error in production', async (_what, settings, said, config) => {
    expect(texts(await development(settings, config), 'error').join('\n')).toContain(said);
    expect(await development(settings, { ...config, production: false })).toEqual([]);
  });

  test('a shop without them passes, also with a gateway behind the sandbox', async () => {
    const gateway = {
      'pay.sandbox.secret': 'a secret of sixteen or more',
      'pay.sandbox.cashier_url': 'https://pay.example/cashier',
      'pay.sandbox.refund_url': 'https://pay.example/refund',
    };
    expect(await development(gateway)).toMatchObject([{ level: 'ok' }]);
    const stripe = { 'stripe.secret_key': 'sk_live_12345678', 'stripe.webhook_secret': 'whsec_12345678' };
    const sites = {
      'stripe.api_url': 'https://api.stripe.com',
      'wechat_pay.api_url': 'https://api2.mch.weixin.qq.com',
      'alipay.gateway_url': 'https://openapi.alipay.com/gateway.do',
    };
    expect(await development({ ...stripe, ...sites })).toMatchObject([{ level: 'ok' }]);
  });

  test('a shop without a payment provider gets the names of the settings that the chosen one lacks', async () => {
    const said = async (settings: object) => texts(await development(settings), 'warning');
    const text = 'no payment provider is set up, so shoppers cannot pay';
    expect(await said({})).toEqual([text]);
    expect(await said({ 'pay.provider': 'stripe' })).toEqual([
      `${text}; stripe is chosen: set stripe.secret_key, stripe.webhook_secret`,
    ]);
    expect(await said({ 'pay.provider': 'stripe', 'stripe.secret_key': 'sk_live_12345678' })).toEqual([
      `${text}; stripe is chosen: set stripe.webhook_secret`,
    ]);
  });

  test('a database filled by the demo seed is an error, until an operator switches instant payment off', async () => {
    const { sql } = database;
    await sql`insert into runtime.settings (key, value) values ('shop.demo', 'true')`;
    try {
      const of = async (value: boolean | null) =>
        texts(await development({ 'pay.instant': value }), 'error').join('\n');
      expect(await of(null)).toContain('the demo seed filled this database');
      expect(await of(false)).toBe('');
    } finally {
      await sql`delete from runtime.settings where key = 'shop.demo'`;
    }
  });

  test('refuses a file that sets shop.demo', async () => {
    const { code, findings: found } = await findings({ databaseUrl: database.url, settings: { 'shop.demo': true } });
    expect([code, texts(of(found, 'configuration'), 'error').join()]).toEqual([
      1,
      expect.stringContaining('shop.demo'),
    ]);
  });
});

test('checks settings, jobs, accounts and durability in the database, with advice for each finding', async () => {
  const { sql } = database;
  await sql`insert into runtime.settings (key, value) values ('orders.unpaid_minutes', '"soon"'), ('shop.bogus', '1')`;
  await sql`insert into identity.signing_keys (kid, secret, created_at) values ('old', '\\x00', now() - interval '400 days')`;
  await sql`insert into identity.shoppers (username, is_demo) values ('demo', true)`;
  await sql`select graphile_worker.permanently_fail_jobs(array[(graphile_worker.add_job('x', '{}')).id])`;
  await sql`select graphile_worker.add_job('x', '{}', run_at => now() - interval '1 hour')`;
  const { code, findings: found } = await findings({
    databaseUrl: database.url,
    production: true,
    settings: { 'shop.nothing': 1, 'shop.time_zone': 'Mars' },
  });
  expect(code).toBe(1);
  expect(of(found, 'settings')).toMatchObject([
    { level: 'error', what: expect.stringContaining('orders.unpaid_minutes'), todo: expect.stringContaining('unset') },
    { level: 'note', what: expect.stringContaining('shop.bogus') },
  ]);
  expect(texts(of(found, 'configuration'), 'error')).toEqual([
    expect.stringContaining('no PUBLIC_URL'),
    expect.stringContaining('no shop setting shop.nothing'),
    expect.stringContaining('shop.time_zone: must be an IANA time zone'),
  ]);
  expect(texts(of(found, 'configuration'), 'ok').join()).toContain('shop.time_zone (file)');
  expect(of(found, 'jobs')).toMatchObject([
    {
      level: 'error',
      what: expect.stringContaining('1 job is due, the oldest for 60 min, and no worker is running'),
    },
    { level: 'warning', todo: expect.stringContaining('jobs list --failed') },
  ]);
  expect(of(found, 'accounts')).toMatchObject([
    { level: 'note', what: expect.stringContaining('400 days'), todo: expect.stringContaining('token rotate') },
    { level: 'error', what: expect.stringContaining('1 demo accounts') },
    { level: 'note', todo: expect.stringContaining('staff create') },
  ]);
  // The test cluster runs without fsync, which is an error in production.
  expect(texts(of(found, 'database'), 'error').join()).toContain('fsync is off');
});

test('finds processes of another version, and clocks that differ, also between processes without a port', async () => {
  const open = async (name: string) => {
    const sql = openDatabase(database.url, { max: 1, name });
    await sql`select 1`;
    return sql;
  };
  const sessions = [
    await open('tradepost process 0.0.9 w d 0 aaaaaaaa'),
    await open('tradepost process 0.0.9 a d -4500 bbbbbbbb'),
  ];
  try {
    const { findings: found } = await findings({ databaseUrl: database.url });
    expect(of(found, 'processes')).toMatchObject([
      { level: 'ok', what: expect.stringContaining('0.0.9 worker') },
      { id: 'processes/version', what: expect.stringContaining('2 of 2') },
      { id: 'processes/clock', what: expect.stringContaining('4.5 s') },
      { id: 'processes/no-shared-store', what: expect.stringContaining('2 processes run') },
    ]);
  } finally {
    for (const sql of sessions) await sql.end({ timeout: 1 });
  }
});

test('finds processes with another key of stored secrets, or without one', async () => {
  const { sql } = database;
  const file = join(folder, 'own.key');
  const session = async (key: string, instance: string) => {
    const opened = openDatabase(database.url, { max: 1, name: `tradepost process ${version} w d 0 ${key}${instance}` });
    await opened`select 1`;
    return opened;
  };
  await openSecrets({ sql, file, log: openLog({ level: 'silent' }) }).seal('a', 'b');
  const [row] = await sql<{ id: string }[]>`select id from runtime.secret_keys`;
  const sessions = [await session(`${row!.id} `, 'aaaaaaaa'), await session('', 'bbbbbbbb')];
  const other = async () =>
    of((await findings({ databaseUrl: database.url, secretsKeyFile: file })).findings, 'processes')
      .slice(1)
      .filter(({ id }) => id !== 'processes/no-shared-store');
  try {
    expect(await other()).toEqual([]);
    sessions.push(await session('0badc0de ', 'cccccccc'), await session('failed ', 'dddddddd'));
    await chmod(file, 0o644);
    expect(await other()).toEqual([]);
    await chmod(file, 0o600);
    expect(await other()).toMatchObject([
      { level: 'error', id: 'processes/other-key', what: expect.stringContaining('2 of 4 processes') },
    ]);
    await sql`delete from runtime.secret_keys`;
    expect(await other()).toEqual([]);
  } finally {
    for (const opened of sessions) await opened.end({ timeout: 1 });
    await sql`delete from runtime.secret_keys`;
  }
});

describe('migrations', () => {
  let own: TestDatabase;
  beforeAll(async () => {
    own = await cloneDatabase();
  });
  afterAll(() => own?.drop());
  const migrations = async () => of((await findings({ databaseUrl: own.url })).findings, 'migrations');

  test('reports missing and edited migrations, and a database newer than the program', async () => {
    await own.sql`update runtime.migrations set checksum = 'other' where id = 1`;
    expect(await migrations()).toMatchObject([{ level: 'error', what: expect.stringContaining('0001_core.sql') }]);
    await own.sql`insert into runtime.migrations (id, name, checksum) values (9999, '9999_future.sql', '')`;
    expect(await migrations()).toMatchObject([{ what: expect.stringContaining('newer') }, { level: 'error' }]);
    await own.sql`delete from runtime.migrations where id > 1`;
    expect((await migrations()).at(-1)).toMatchObject({ level: 'error', todo: 'tradepost migrate' });
    expect(await own.sql`select id from runtime.migrations`).toHaveLength(1);
    await own.sql`drop schema runtime cascade`;
    expect(await migrations()).toMatchObject([{ level: 'error', todo: 'tradepost migrate' }]);
  });
});

test('checks a running instance with its embedded database, and recognises another program on the port', async () => {
  const data = join(folder, 'embedded');
  const server = await startProcess(['--seed', 'none', '--data', data]);
  const port = Number(new URL(server.url).port);
  const check = async (config: object) => (await findings({ data, ...config })).findings;
  try {
    const found = await check({ port });
    expect(of(found, 'network')).toMatchObject([
      { level: 'ok', what: expect.stringContaining(`pid ${server.child.pid}`) },
    ]);
    expect(of(found, 'jobs')).toMatchObject([{ level: 'ok', what: expect.stringContaining('a worker is connected') }]);
    expect(texts(of(found, 'migrations'), 'ok')).toHaveLength(1);
    expect(of(found, 'processes')).toMatchObject([
      { level: 'ok', what: expect.stringContaining('api+worker+gateway') },
    ]);
    // A doctor without the data folder of the server, as in a service of its own, knows it by the database.
    const embedded = await findEmbeddedPostgres(join(data, 'postgres'));
    const beside = await check({ port, databaseUrl: embedded.url!, data: join(folder, 'beside') });
    expect(of(beside, 'network')).toMatchObject([{ level: 'ok', what: expect.stringContaining('of this database') }]);
    // The server has no key file, and its database has a secret that a command has sealed with a key file of its own.
    const sql = openDatabase(embedded.url!, { max: 1, name: 'tradepost doctor test' });
    const file = join(folder, 'beside.key');
    await openSecrets({ sql, file, log: openLog({ level: 'silent' }) }).seal('a', 'b');
    await sql.end({ timeout: 1 });
    const keys = of(await check({ secretsKeyFile: file }), 'processes').find(({ id }) => id === 'processes/other-key');
    expect(keys).toMatchObject({ level: 'error', what: expect.stringContaining('1 of 1 processes') });
    // With a wrong password the doctor cannot know which shop the server is, and reports only the password.
    const wrong = new URL(embedded.url!);
    wrong.password = 'wrong';
    const unknown = await check({ port, databaseUrl: wrong.toString(), data: join(folder, 'beside') });
    expect(texts(unknown, 'error')).toEqual([expect.stringContaining('cannot be reached')]);
    expect(of(unknown, 'network')).toMatchObject([{ level: 'ok', what: expect.stringContaining('a shop answers') }]);
    // The same server, seen by a doctor that was given another database and production.
    const other = await check({ port, databaseUrl: database.url });
    expect(of(other, 'processes')).toMatchObject([{ level: 'error', id: 'processes/other-database' }]);
    expect(of(await check({ port, production: true }), 'processes').map(({ id }) => id)).toContain('processes/mode');
  } finally {
    server.child.kill('SIGTERM');
    await server.ended;
  }
  const foreign = createServer((_request, response) => response.writeHead(404).end());
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
  const after = await check({ port: (foreign.address() as AddressInfo).port });
  foreign.close();
  expect(of(after, 'database')).toMatchObject([{ level: 'note', what: expect.stringContaining('not running') }]);
  expect(of(after, 'network')).toMatchObject([{ level: 'error', what: expect.stringContaining('another program') }]);
});
