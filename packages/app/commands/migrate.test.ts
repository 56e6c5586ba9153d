import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrateDatabase } from '@tradepost/runtime';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { runCommand } from '@tradepost/testing/processes/process';
import { cloneDatabase, createEmptyDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { version } from '../version.ts';

/** At this version. */
let current: TestDatabase;
/** At the migration 44. */
let older: TestDatabase;
let data: string;
beforeAll(async () => {
  [current, older, data] = await Promise.all([
    cloneDatabase(),
    createEmptyDatabase(),
    mkdtemp(join(tmpdir(), 'tradepost-migrate-')),
  ]);
  await migrateDatabase(older.url, { through: 44 });
});
afterAll(async () => {
  await current?.drop();
  await older?.drop();
  await rm(data, { recursive: true, force: true });
});

const migrate = (database: TestDatabase | null, ...args: string[]) =>
  runCommandInProcess(['migrate', ...args], {
    env: { TRADEPOST_DATA: data, ...(database ? { DATABASE_URL: database.url } : {}) },
  });
const json = async (database: TestDatabase | null, ...args: string[]) => {
  const { code, stdout } = await migrate(database, ...args, '--json');
  return { code, ...JSON.parse(stdout) };
};

test('an operator reads beforehand what a migration does, and how long it takes', async () => {
  const { code, migrations, problems } = await json(older, '--plan');
  expect([code, problems]).toEqual([0, []]);
  expect(migrations[0]).toMatchObject({ id: 45, name: '0045_orders_discounts.sql', package: 'orders', step: 'expand' });
  expect(migrations.find(({ id }: { id: number }) => id === 52)).toMatchObject({
    package: 'points-mall',
    size: 'small',
  });
  const explained = () =>
    json(older, '--plan').then((plan) => plan.migrations.find(({ id }: { id: number }) => id === 57));
  expect(await explained()).toMatchObject({ size: 'small', tables: ['orders.orders', 'orders.order_items'] });
  const before = await older.sql`select relname, reltuples from pg_class where oid = 'orders.order_items'::regclass`;
  await older.sql`update pg_class set reltuples = 20000000 where oid = 'orders.order_items'::regclass`;
  expect(await explained()).toMatchObject({ size: 'large', rows: 20_000_000 });
  await older.sql`update pg_class set reltuples = ${before[0]!.reltuples} where oid = 'orders.order_items'::regclass`;
  const { stdout } = await migrate(older, '--plan');
  expect(stdout).toMatch(/0047 +group_buy +group-buy +small +0 +expand/);
  expect(stdout).toContain('nothing was changed');
  expect(await older.sql`select count(*)::int as n from runtime.migrations`).toEqual([{ n: 44 }]);
  expect((await migrate(current, '--plan')).stdout).toContain('nothing to apply');
});

test('a deployment finds out whether the database is exactly at its version', async () => {
  expect(await json(current, '--check')).toMatchObject({ code: 0, ok: true, version, missing: [], problems: [] });
  expect(await migrate(current, '--check')).toMatchObject({ code: 0, stdout: expect.stringContaining('up to date') });
  const behind = await json(older, '--check');
  expect(behind).toMatchObject({ code: 1, ok: false, problems: [{ id: 'missing' }] });
  expect(behind.missing[0]).toBe('0045_orders_discounts.sql');
  expect((await migrate(older, '--check')).stdout).toMatch(
    /tradepost migrate[\s\S]*missing 0045_orders_discounts\.sql/,
  );
  const { stdout } = await migrate(older, '--check');
  expect(stdout.match(/^ {2}missing /gm)).toHaveLength(Math.min(10, behind.missing.length));
  expect(stdout).toContain(`  and ${behind.missing.length - 10} more`);
  expect(await migrate(older, '--check', '--plan')).toMatchObject({ code: 2 });
});

test('migrate names the database, without its password', async () => {
  const { hostname, port, pathname, password } = new URL(current.url);
  const { stdout } = await migrate(current);
  expect(stdout).toMatch(/^up to date \(\d+ migrations\): /);
  expect(stdout).toContain(`: database ${pathname.slice(1)} at ${hostname}:${port}\n`);
  expect((await json(current)).database).toBe(`database ${pathname.slice(1)} at ${hostname}:${port}`);
  if (password) expect(stdout).not.toContain(password);
});

test('neither makes an embedded database that does not exist', async () => {
  expect(await json(null, '--check')).toMatchObject({ code: 1, problems: [{ id: 'missing' }] });
  const { migrations } = await json(null, '--plan');
  expect(migrations[0]).toMatchObject({ id: 1, name: '0001_core.sql' });
  expect(await readdir(data)).toEqual([]);
});

test('an edited migration and an interrupted restore are named, with what to do', async () => {
  const { sql } = current;
  const [row] = await sql`select checksum from runtime.migrations where id = 3`;
  await sql`update runtime.migrations set checksum = 'other' where id = 3`;
  try {
    expect(await json(current, '--check')).toMatchObject({ code: 1, edited: ['0003_identity.sql'] });
    await sql`create table runtime.restoring (begun_at timestamptz)`;
    const { problems } = await json(current, '--check');
    expect(problems).toMatchObject([
      { id: 'restoring', todo: expect.stringContaining('backup restore') },
      { id: 'edited' },
    ]);
    expect(await json(current, '--plan')).toMatchObject({ code: 1, migrations: [] });
  } finally {
    await sql`drop table if exists runtime.restoring`;
    await sql`update runtime.migrations set checksum = ${row!.checksum} where id = 3`;
  }
});

test('a second account that acts as the owner migrates, and the owner stays one role', async () => {
  const [owner, second] = [`owner_${process.pid}`, `second_${process.pid}`];
  const database = await createEmptyDatabase();
  const url = Object.assign(new URL(database.url), { username: second, password: 'secret' });
  const name = url.pathname.slice(1);
  try {
    // As "New passwords and keys" in OPERATIONS has it.
    await database.sql.unsafe(`
      create role ${owner} createdb nologin; alter database ${name} owner to ${owner};
      create role ${second} login password 'secret' in role ${owner}; alter role ${second} set role ${owner}`);
    const env = { TRADEPOST_DATA: data, DATABASE_URL: url.toString() };
    expect(await runCommandInProcess(['migrate'], { env })).toMatchObject({ code: 0 });
    expect(await runCommandInProcess(['audit'], { env })).toMatchObject({ code: 0 });
    const owners = await database.sql`
      select distinct relowner::regrole::text as owner from pg_class
      where relnamespace::regnamespace::text !~ '^(pg_|information_schema)'`;
    expect(owners).toEqual([{ owner }]);
  } finally {
    await database.drop();
    await current.sql.unsafe(`drop role if exists ${second}; drop role if exists ${owner}`);
  }
});

describe('a database that a newer version has migrated', () => {
  beforeAll(async () => {
    await current.sql`
      insert into runtime.migrations (id, name, checksum, release) values (9000, '9000_newer.sql', 'x', '7.1.0')`;
  });
  afterAll(async () => {
    await current.sql`delete from runtime.migrations where id = 9000`;
  });
  const refusal = /9000_newer\.sql.*newer version \(7\.1\.0\).*Run version 7\.1\.0 or newer, or restore a backup/;

  test.each([
    [['start', '--port', '0', '--admin-port', 'off']],
    [['start', '--only', 'worker', '--admin-port', 'off']],
    [['start', '--only', 'worker', '--once']],
    [['migrate']],
    [['audit']],
    [['settings', 'list']],
  ])('is refused by %j, which names the release to run', async (args) => {
    const { code, stdout, stderr } = await runCommand(args, {
      env: { TRADEPOST_DATA: data, DATABASE_URL: current.url },
      timeoutMs: 60_000,
    });
    expect([code, `${stdout}${stderr}`]).toEqual([1, expect.stringMatching(refusal)]);
  });

  test('is found by the doctor and by --check', async () => {
    const { stdout } = await runCommandInProcess(['doctor', '--json'], {
      env: { TRADEPOST_DATA: data, DATABASE_URL: current.url, PORT: '0' },
    });
    const { findings } = JSON.parse(stdout) as { findings: { id: string; what: string; todo: string }[] };
    expect(findings.find(({ id }) => id === 'migrations/newer')).toMatchObject({
      what: expect.stringContaining('7.1.0'),
      todo: expect.stringContaining('Run version 7.1.0'),
    });
    expect(await json(current, '--check')).toMatchObject({
      code: 1,
      unknown: ['9000_newer.sql'],
      newerRelease: '7.1.0',
    });
  });
});
