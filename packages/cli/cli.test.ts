import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { type Server, startServer } from '@tradepost/app';
import { type ConfigKey, loadConfig, openLog } from '@tradepost/runtime';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { runCommand, startProcess } from '@tradepost/testing/processes/process';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

// Some tests start several servers.
vi.setConfig({ testTimeout: 90_000 });

let database: TestDatabase;
let folder: string;
/** All commands of this file use one database. */
let env: Record<string, string>;
beforeAll(async () => {
  database = await cloneDatabase();
  folder = await mkdtemp(join(tmpdir(), 'tradepost-cli-'));
  env = { DATABASE_URL: database.url, TRADEPOST_DATA: folder };
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

/** Serves the database of this file from this process. */
function serve(flags: Partial<Record<ConfigKey, unknown>> = {}): Promise<Server> {
  const given = { databaseUrl: database.url, data: folder, port: 0, seed: 'none', only: 'api', ...flags };
  return startServer({ config: loadConfig({ env: {}, flags: given }).config, log: openLog({ level: 'silent' }) });
}
const logIn = async (server: Server, username: string, password: string): Promise<unknown> =>
  (
    await fetch(`${server.transport?.url}/admin/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password }),
    })
  ).json();

describe('usage', () => {
  const commands = [
    'start',
    'demo',
    'migrate',
    'seed',
    'config',
    'settings list',
    'settings get',
    'settings set',
    'settings unset',
    'staff create',
    'pay callback',
    'pay refunds',
    'pay retry-refund',
    'audit',
    'jobs list',
    'jobs show',
    'jobs retry',
    'jobs discard',
    'doctor',
    'completion',
    'bench',
  ];
  test.each(commands)('%s --help shows an example and ends with 0', async (command) => {
    const { code, stdout } = await runCommandInProcess([...command.split(' '), '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Examples?:\n {2}\$ .*tradepost/);
  });

  test.each([
    ['start', '--bogus'],
    ['settings', 'get'],
    ['start', '--port', 'abc'],
    ['start', '--once'],
    ['seed', '--orders', 'abc'],
    ['seed', '--shoppers', '5'],
  ])('wrong usage ends with 2: %s %s', async (...args) => {
    const { code, stderr } = await runCommandInProcess(args, { env });
    expect(code).toBe(2);
    expect(stderr).toContain('error:');
  });

  test('the process ends with the exit code of the command and its whole output, and loads no library of a server', async () => {
    const listModules = `
      import { registerHooks } from 'node:module';
      const resolve = (specifier, context, next) => {
        const found = next(specifier, context);
        process.stderr.write(found.url + '\\n');
        return found;
      };
      registerHooks({ resolve });`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(listModules)}`;
    const { code, stderr } = await runCommand(['bogus'], { env: { ...env, NODE_OPTIONS } });
    expect(code).toBe(2);
    expect(stderr).toContain('error:');
    expect(stderr).toContain('/node_modules/commander/');
    const library = /\/node_modules\/(@redis\/client|graphile-worker|pg|ws|uWebSockets\.js)\//g;
    expect(new Set(stderr.match(library))).toEqual(new Set());
  });
});

test('config masks secrets and says where each value comes from', async () => {
  const file = join(folder, 'config.json');
  await writeFile(file, JSON.stringify({ port: 9001, logLevel: 'debug', settings: { 'shop.time_zone': 'UTC' } }));
  const given = { PORT: '9002', DATABASE_URL: 'postgres://shop:s3cret@db.example/shop', LOG_LEVEL: '' };
  const { stdout } = await runCommandInProcess(['config', '--config', file, '--json'], { env: given });
  const rows = Object.fromEntries(JSON.parse(stdout).values.map((row: { key: string }) => [row.key, row]));
  expect(rows.port).toMatchObject({ value: '9002', source: 'environment' });
  expect(rows.logLevel).toMatchObject({ value: 'debug', source: 'file' });
  expect(rows.production).toMatchObject({ value: expect.not.stringContaining('false') });
  expect(rows.host).toMatchObject({ value: '127.0.0.1', source: 'default' });
  expect(rows.databaseUrl.value).toContain('db.example');
  expect(stdout).not.toContain('s3cret');
  const plain = await runCommandInProcess(['config', '--config', file], { env: given });
  expect(plain.stdout).not.toContain('s3cret');
  const misspelt = { ...given, TRUSTED_PROXY: '10.0.0.1' };
  const named = await runCommandInProcess(['config'], { env: misspelt });
  expect(named.stderr).toContain('the variable TRUSTED_PROXY has no effect, and TRUSTED_PROXIES is not set');
});

test('a command that reads a shop does not create a missing one', async () => {
  const nowhere = join(folder, 'nowhere');
  for (const command of [['audit'], ['settings', 'list'], ['jobs', 'list']])
    expect(await runCommandInProcess([...command, '--data', nowhere], { env: { DATABASE_URL: '' } })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`there is no shop in ${nowhere}, and DATABASE_URL is not set`),
    });
  const misspelt = await runCommandInProcess(['audit', '--data', nowhere], {
    env: { DATABASE_URL: '', DATBASE_URL: env.DATABASE_URL! },
  });
  expect(misspelt).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the variable DATBASE_URL has no effect, and DATABASE_URL is not set'),
  });
  expect(existsSync(nowhere)).toBe(false);
});

test('a secret setting that is set is shown as ***, and printed only with --reveal', async () => {
  const settings = async (...args: string[]) => (await runCommandInProcess(['settings', ...args], { env })).stdout;
  const key = 'pay.sandbox.secret';
  const secret = 'hush-hush-hush-1';
  expect(await settings('get', key)).toBe('-\n');
  // A process, because its standard input is a pipe.
  const set = await runCommand(['settings', 'set', key], { env, input: secret });
  expect(set.stdout).toBe(`${key} = ***\n`);
  const listed = await settings('list', key);
  expect(listed).toMatch(/\*\*\* +table/);
  expect(listed.trim().split('\n')).toHaveLength(2);
  expect(await settings('get', key)).toBe('***\n');
  expect(await settings('get', key, '--reveal')).toBe(`"${secret}"\n`);
  await settings('unset', key);
});

test('a command that needs no Redis works while the one of the servers is away', async () => {
  const away = { ...env, REDIS_URL: 'redis://127.0.0.1:1' };
  expect(await runCommandInProcess(['settings', 'set', 'orders.unpaid_minutes', '20'], { env: away })).toMatchObject({
    code: 0,
  });
  expect(await runCommandInProcess(['jobs', 'list', '--json'], { env: away })).toMatchObject({ code: 0 });
  expect(await runCommand(['start', '--plain', '--port', '0', '--gateway-port', '0'], { env: away })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Redis does not answer at 127.0.0.1:1 (REDIS_URL)'),
  });
});

test('the history of a setting names who called the command, also behind sudo', async () => {
  const key = 'orders.unpaid_minutes';
  const set = (value: string, more: Record<string, string>) =>
    runCommandInProcess(['settings', 'set', key, value], { env: { ...env, ...more } });
  await set('21', { SUDO_USER: 'maria' });
  await set('22', { SUDO_USER: '' });
  const { stdout } = await runCommandInProcess(['settings', 'log', key, '--limit', '2', '--json'], { env });
  expect(JSON.parse(stdout).map((row: { changed_by: string }) => row.changed_by)).toEqual([
    `cli (${userInfo().username})`,
    'cli (maria)',
  ]);
  const changes = await runCommandInProcess(['changes', 'list', '--limit', '20'], { env });
  expect(changes.stdout).toContain('cli (maria)');
});

test('settings are validated, stored, listed with their source and reset', async () => {
  const settings = (...args: string[]) => runCommandInProcess(['settings', ...args], { env });
  expect((await settings('set', 'orders.unpaid_minutes', '30')).stdout).toBe('orders.unpaid_minutes = 30\n');
  expect((await settings('get', 'orders.unpaid_minutes')).stdout).toBe('30\n');
  const wrong = await settings('set', 'orders.unpaid_minutes', 'soon');
  expect(wrong).toMatchObject({ code: 2 });
  expect(wrong.stderr).toContain('orders.unpaid_minutes');
  for (const args of [
    ['set', 'shop.colour', 'red'],
    ['get', 'shop.colour'],
    ['unset', 'shop.colour'],
  ])
    expect(await settings(...args)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no setting shop.colour'),
    });
  expect(await settings('set', 'notices.enabled', 'order_shipped')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`notices.enabled: the value must be JSON, such as '["a","b"]'`),
  });
  for (const args of [
    ['set', 'shop.timezone', 'UTC'],
    ['get', 'shop.timezone'],
    ['unset', 'shop.timezone'],
  ])
    expect((await settings(...args)).stderr).toContain('did you mean shop.time_zone?');
  const rows = JSON.parse((await settings('list', '--json')).stdout);
  expect(rows.find((row: { key: string }) => row.key === 'orders.unpaid_minutes')).toMatchObject({
    value: 30,
    source: 'table',
  });
  expect((await settings('unset', 'orders.unpaid_minutes')).stdout).toBe('orders.unpaid_minutes = 15\n');
});

test('a setting that a production shop would not use is refused when it is set', async () => {
  const set = (value: string, more: Record<string, string> = {}) =>
    runCommandInProcess(['settings', 'set', 'sms.provider', value], { env: { ...env, ...more } });
  const production = { NODE_ENV: 'production' };
  for (const value of ['test', 'log'])
    expect(await set(value, production)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('sms.provider: test and log'),
    });
  expect(await set('off', production)).toMatchObject({ code: 0 });
  expect(await set('test')).toMatchObject({ code: 0 });
});

test('the command and a running server name the release of the checkout', async () => {
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'));
  expect(await runCommand(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
  const server = await serve();
  try {
    expect(await (await fetch(`${server.transport?.url}/health`)).json()).toMatchObject({ version });
  } finally {
    await server.stop();
  }
});

test('migrate reports that the database is up to date', async () => {
  expect(await runCommandInProcess(['migrate'], { env })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('up to date'),
  });
});

test('staff create adds an administrator who can log in; refuses a taken name, a short password and an unknown role', async () => {
  const create = (args: string[], input: string) =>
    runCommandInProcess(['staff', 'create', ...args, '--password-stdin'], { env, input });
  expect(await create(['ann', '--json'], 'long enough 1\n')).toMatchObject({ code: 0 });
  expect(await create(['ann'], 'long enough 1')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('ann is taken'),
  });
  expect(await create(['bob'], 'short')).toMatchObject({ code: 2, stderr: expect.stringContaining('password') });
  expect(await create(['bob', '--role', 'Cook'], 'long enough 1')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Cook'),
  });
  const server = await serve();
  expect(await logIn(server, 'ann', 'long enough 1')).toMatchObject({ code: 0 });
  await server.stop();
});

test('seed fills an empty database once and is refused in production; demo completes a purchase on it', async () => {
  const refused = await runCommandInProcess(['seed', '--seed', 'demo'], { env: { ...env, NODE_ENV: 'production' } });
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('NODE_ENV=production') });
  const seeded = JSON.parse((await runCommandInProcess(['seed', '--seed', 'demo', '--json'], { env })).stdout);
  expect(seeded.products).toBeGreaterThanOrEqual(200);
  expect((await runCommandInProcess(['seed', '--seed', 'demo'], { env })).stdout).toContain('nothing was changed');

  const server = await startProcess([], env);
  const story = await runCommandInProcess(['demo', '--url', server.url, '--json'], { env });
  expect(story).toMatchObject({ code: 0, stderr: '' });
  const { steps } = JSON.parse(story.stdout);
  expect(steps).toContainEqual(expect.objectContaining({ result: expect.stringContaining('Pending Receipt') }));
  // The last step reads the case of the return.
  expect(steps.at(-1)).toMatchObject({ result: expect.stringContaining('Refunded, Completed') });
  expect(await runCommandInProcess(['demo', '--url', server.url, '--keyword', 'nosuchthing'], { env })).toMatchObject({
    code: 1,
  });

  const list = (await fetch(`${server.url}/api/v1/products?size=100&lang=zh-CN`).then((response) =>
    response.json(),
  )) as { data: { list: { title: string; cover: string }[] } };
  for (const product of list.data.list.slice(0, 20)) {
    expect(product.title).toMatch(/\p{Script=Han}/u);
    const picture = await fetch(product.cover);
    expect(picture.headers.get('content-type')).toBe('image/svg+xml');
    expect(await picture.text()).toContain('<svg');
  }
  server.child.kill('SIGTERM');
  expect(await server.ended).toBe(0);

  // The database is not empty.
  for (const [args, more] of [
    [['start', '--plain', '--seed', 'demo'], {}],
    [['start', '--plain', '--only', 'worker', '--once'], { TRADEPOST_SEED: 'demo' }],
  ] as const)
    expect(await runCommand([...args], { env: { ...env, ...more, NODE_ENV: 'production' } })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('NODE_ENV=production refuses demo data'),
    });
  const production = await serve({ production: true });
  const noDemo = await runCommandInProcess(['demo', '--url', production.transport!.url, '--keyword', 'mug'], { env });
  expect(noDemo).toMatchObject({ code: 1, stderr: expect.stringContaining('Only a demo shop has the accounts') });
  expect(await logIn(production, 'admin', 'admin123')).toMatchObject({ code: 401 });
  await production.stop();
});

test('start --only worker --once runs the due jobs and ends', async () => {
  const [due] = await database.sql<{ id: number }[]>`select (graphile_worker.add_job('orders.expire', '{}')).id`;
  // A process, because it must end by itself.
  expect(await runCommand(['start', '--only', 'worker', '--once'], { env })).toMatchObject({ code: 0 });
  expect(await database.sql`select id from graphile_worker.jobs where id = ${due!.id}`).toHaveLength(0);
});
