import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MigrationError } from '@tradepost/postgres';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { migrateDatabase as migrate } from './migrate-database.ts';

let database: TestDatabase;
let directory: string;

beforeEach(async () => {
  database = await cloneDatabase();
  // Makes the database empty: no tables of the shop, no history, no job queue.
  await database.sql.unsafe(
    'drop schema runtime, identity, catalog, inventory, orders, fulfilment, graphile_worker cascade',
  );
  directory = await mkdtemp(join(tmpdir(), 'tradepost-migrate-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
  // Fails when `migrate` has left a connection open.
  await dropWithoutLeak(database);
});

/** pg closes its connections without waiting for the server. A connection that exists after a while is a leak. */
async function dropWithoutLeak(database: TestDatabase): Promise<void> {
  const left = () => database.sql`
    select pid from pg_stat_activity where datname = current_database() and application_name <> 'test'`;
  await vi.waitFor(async () => expect(await left()).toEqual([]), { timeout: 3_000 });
  await database.drop();
}

const files = async (texts: Record<string, string>) => {
  for (const [name, text] of Object.entries(texts)) await writeFile(join(directory, name), text);
};
const run = () => migrate(database.url, { directory });
const history = async () =>
  (await database.sql<{ name: string }[]>`select name from runtime.migrations order by id`).map((row) => row.name);
const tables = async () =>
  (
    await database.sql<{ name: string }[]>`
      select table_name as name from information_schema.tables where table_schema = 'public' order by 1`
  ).map((row) => row.name);

const first = { '0001_shop.sql': 'create table a (n int);\ninsert into a values (1);\n' };
const second = { '0002_more.sql': 'create table b as select n + 1 as n from a;\n' };

describe('the database is migrated to the version of the program', () => {
  test('an empty database gets all migrations in order, and jobs can be enqueued', async () => {
    await files({ ...second, ...first, 'README.md': 'not a migration' });
    const steps: string[] = [];
    const done = await migrate(database.url, { directory, onStep: (name) => steps.push(name) });
    expect(done).toEqual({ applied: ['0001_shop.sql', '0002_more.sql'], total: 2 });
    expect(steps).toEqual(done.applied);
    expect(await database.sql`select n from b`).toEqual([{ n: 2 }]);
    await database.sql`select graphile_worker.add_job('task')`;
  });

  test('a second start changes nothing, and a new file is the only one applied', async () => {
    await files(first);
    await run();
    expect(await run()).toEqual({ applied: [], total: 1 });
    await files(second);
    expect(await run()).toEqual({ applied: ['0002_more.sql'], total: 2 });
    expect(await database.sql`select n from a`).toEqual([{ n: 1 }]);
  });

  test('a command that only reads changes nothing, and says how to migrate an older database', async () => {
    await files(first);
    const look = () => migrate(database.url, { directory, checkOnly: true });
    await expect(look()).rejects.toThrow('tradepost migrate');
    expect(await database.sql`select 1 from pg_namespace where nspname = 'runtime'`).toEqual([]);
    await run();
    expect(await look()).toEqual({ applied: [], total: 1 });
    await files(second);
    await expect(look()).rejects.toThrow('tradepost migrate');
    expect(await history()).toEqual(['0001_shop.sql']);
  });

  test('five instances that start together apply each migration once', async () => {
    await files({ ...first, ...second });
    const all = await Promise.all(Array.from({ length: 5 }, run));
    expect(all.flatMap((done) => done.applied)).toEqual(['0001_shop.sql', '0002_more.sql']);
    expect(await database.sql`select n from a`).toEqual([{ n: 1 }]);
    expect(await history()).toEqual(['0001_shop.sql', '0002_more.sql']);
  });

  test('a transaction that holds a table delays its migration, and not the shop', async () => {
    await files(first);
    await run();
    await files({ '0002_more.sql': 'alter table a add column m int;' });
    const lines: string[] = [];
    let migrated: Promise<unknown> | undefined;
    let slowest = 0;
    await database.sql.begin(async (tx) => {
      await tx`select n from a`;
      migrated = migrate(database.url, { directory, onProgress: (line) => lines.push(line) });
      await vi.waitFor(() => expect(lines.join()).toContain('in use by another transaction'), { timeout: 10_000 });
      // The shop reads the table meanwhile.
      for (let i = 0; i < 3; i += 1) {
        const begun = performance.now();
        await database.sql`select n from a`;
        slowest = Math.max(slowest, performance.now() - begun);
      }
    });
    expect(await migrated).toMatchObject({ applied: ['0002_more.sql'] });
    expect(slowest).toBeLessThan(2_500);
    expect(lines[0]).toBe('migrating 1 of 1: 0002_more.sql');
  });

  test('each migration is recorded with the release that applied it, also in a database of a release that recorded none', async () => {
    await files(first);
    await run();
    await database.sql`alter table runtime.migrations drop column release`;
    await files(second);
    await run();
    expect(await database.sql`select id, release from runtime.migrations order by id`).toEqual([
      { id: 1, release: null },
      { id: 2, release: expect.stringMatching(/^\d+\.\d+\.\d+/) },
    ]);
  });

  test('a checkout with Windows line endings has the same checksums', async () => {
    await files(first);
    await run();
    await files({ '0001_shop.sql': first['0001_shop.sql'].replaceAll('\n', '\r\n') });
    expect(await run()).toEqual({ applied: [], total: 1 });
  });
});

describe('a database that does not match the program is refused', () => {
  test('an applied file that was edited: the error names it', async () => {
    await files({ ...first, ...second });
    await run();
    await files({ '0001_shop.sql': `${first['0001_shop.sql']}-- a harmless remark\n`, '0003_new.sql': 'select 1' });
    await expect(run()).rejects.toThrow(MigrationError);
    await expect(run()).rejects.toThrow('0001_shop.sql was edited');
    expect(await history()).toHaveLength(2);
  });

  test('a database of a newer version: the error says what to do', async () => {
    await files({ ...first, ...second });
    await run();
    await rm(join(directory, '0002_more.sql'));
    await expect(run()).rejects.toThrow(/0002_more\.sql.*newer version/);
  });

  test('a migration that fails is rolled back, earlier ones are kept, and a corrected file is applied', async () => {
    await files({
      ...first,
      '0002_more.sql': 'create table half (n int); insert into half values (1); select 1 / 0;',
      '0003_last.sql': 'create table last (n int);',
    });
    await expect(run()).rejects.toThrow('division by zero');
    expect(await tables()).toEqual(['a']);
    expect(await history()).toEqual(['0001_shop.sql']);
    await files(second);
    expect(await run()).toMatchObject({ applied: ['0002_more.sql', '0003_last.sql'] });
    expect(await tables()).toEqual(['a', 'b', 'last']);
  });

  test.each([
    [['0002_first.sql'], '0002_first.sql: expected number 0001'],
    [['0001_a.sql', '0003_c.sql'], '0003_c.sql: expected number 0002'],
    [['0001_a.sql', '0001_b.sql'], '0001_b.sql: expected number 0002'],
    [['0000_zero.sql'], '0000_zero.sql: expected number 0001'],
    [['1_short.sql'], '1_short.sql: a migration is named'],
    [['0001-dash.sql'], '0001-dash.sql: a migration is named'],
    [['0001_Upper.sql'], '0001_Upper.sql: a migration is named'],
    [['00011_long.sql'], '00011_long.sql: a migration is named'],
  ])('file names %j', async (names, message) => {
    await files(Object.fromEntries(names.map((name) => [name, 'create table t (n int);'])));
    await expect(run()).rejects.toThrow(message);
    await expect(run()).rejects.toBeInstanceOf(MigrationError);
    expect(await tables()).toEqual([]);
  });
});
