import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '@tradepost/postgres';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ConfigKey } from './config/fields.ts';
import { AlreadyRunningError } from './config/instance-lock.ts';
import { loadConfig } from './config/load-config.ts';
import { openLog } from './observability/log.ts';
import { openRuntime, type Runtime, timeZone } from './runtime.ts';

const log = openLog({ level: 'silent' });
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** pg closes its connections without waiting for the server. A connection that exists after a while is a leak. */
async function dropWithoutLeak(database: TestDatabase): Promise<void> {
  const left = () => database.sql`
    select pid from pg_stat_activity where datname = current_database() and application_name <> 'test'`;
  await vi.waitFor(async () => expect(await left()).toEqual([]), { timeout: 3_000 });
  await database.drop();
}

function dataFolder(): string {
  const data = mkdtempSync(join(tmpdir(), 'tradepost-runtime-'));
  // The account of the server must reach the folder when the tests run as root.
  chmodSync(data, 0o755);
  cleanups.push(() => rmSync(data, { recursive: true, force: true }));
  return data;
}

async function open(flags: Partial<Record<ConfigKey, unknown>>, serve = false): Promise<Runtime> {
  const { config } = loadConfig({ env: {}, flags: { databasePool: 3, ...flags } });
  const runtime = await openRuntime({ config, definitions: [], serve, log });
  cleanups.push(() => runtime.close());
  return runtime;
}

/** Whether a database server answers at the address. */
async function answers(url: string): Promise<boolean> {
  const sql = openDatabase(url, { max: 1, name: 'probe' });
  try {
    await sql`select 1`;
    return true;
  } catch {
    return false;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

describe('with an external database', () => {
  async function external(): Promise<Runtime> {
    const database = await cloneDatabase();
    // Fails when the runtime has left a connection open.
    cleanups.push(() => dropWithoutLeak(database));
    return open({ databaseUrl: database.url }, true);
  }

  test('opens, migrates, answers the health check, and closes; a second close is harmless', async () => {
    const runtime = await external();
    await runtime.check();
    expect(runtime.embedded).toBeNull();
    expect(runtime.migrated.applied).toEqual([]);
    expect(runtime.migrated.total).toBeGreaterThan(0);
    expect(runtime.settings.get(timeZone)).toBe('Asia/Shanghai');
    await Promise.all([runtime.close(), runtime.close()]);
    await runtime.close();
    await expect(runtime.check()).rejects.toThrow();
  });

  test('close finishes accepted writes and refuses new ones', async () => {
    const runtime = await external();
    await runtime.sql`create table written (n int)`;
    const write = runtime.groupCommit('test', async (items: readonly number[]) => {
      await runtime.sql`insert into written select unnest(${items as number[]}::int[])`;
      await runtime.sql`select pg_sleep(0.05)`;
      return items;
    });
    const accepted = Array.from({ length: 500 }, (_, i) => write(i));
    const closing = runtime.close();
    const late = write(9_999).then(
      () => 'accepted',
      (error: { code?: number }) => error.code,
    );
    expect(await Promise.all(accepted)).toHaveLength(500);
    expect(await late).toBe(503);
    await closing;
    const sql = openDatabase(runtime.databaseUrl, { max: 1 });
    expect(await sql`select count(*) as n, count(distinct n) as d from written`).toEqual([{ n: 500, d: 500 }]);
    await sql.end();
    const text = await runtime.metrics.registry.metrics();
    expect(text).toMatch(/group_commit_batch_size_count\{use_case="test"\} [1-9]/);
    expect(text).toMatch(/db_statements_total [1-9]/);
  });

  test('a start that fails at its last step leaves no connection open', async () => {
    const database = await cloneDatabase();
    cleanups.push(() => dropWithoutLeak(database));
    const { config } = loadConfig({ env: {}, flags: { databaseUrl: database.url } });
    const broken = { ...config, settings: { 'no.such': 1 } };
    await expect(openRuntime({ config: broken, definitions: [], serve: true, log })).rejects.toThrow('no.such');
  });

  test('an address without a database is an error at once', async () => {
    await expect(open({ databaseUrl: 'postgres://user@127.0.0.1:9/database' }, true)).rejects.toThrow('ECONNREFUSED');
  });
});

describe.skipIf(process.platform !== 'linux')('on the embedded database', () => {
  test('one server per data folder: the error of the second names the first one, and it starts when that has ended', async () => {
    const data = dataFolder();
    const first = await open({ data }, true);
    await first.announce('http://127.0.0.1:8123');
    await first.sql`create table kept as select 1 as n`;

    const refused = await open({ data }, true).then(
      () => null,
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(AlreadyRunningError);
    expect((refused as Error).message).toContain(`pid ${process.pid}, http://127.0.0.1:8123`);
    expect((refused as Error).message).toContain(data);
    await first.check();

    await first.close();
    expect(await answers(first.databaseUrl)).toBe(false);
    // The refused server does not start the database again.
    await sleep(1_000);
    expect(await answers(first.databaseUrl)).toBe(false);
    expect(existsSync(join(data, 'instance.json'))).toBe(false);

    const second = await open({ data }, true);
    expect(second.embedded?.created).toBe(false);
    expect(await second.sql`select n from kept`).toEqual([{ n: 1 }]);
    await second.close();
  });

  test('a command beside a running server uses its database and leaves it running; without a server it starts and stops it', async () => {
    const data = dataFolder();
    const alone = await open({ data });
    expect(alone.embedded).toMatchObject({ created: true, adopted: false });
    await alone.check();
    await alone.close();
    expect(await answers(alone.databaseUrl)).toBe(false);

    const serving = await open({ data }, true);
    const visiting = await open({ data });
    expect(visiting.databaseUrl).toBe(serving.databaseUrl);
    await visiting.announce('http://nowhere');
    expect(existsSync(join(data, 'instance.json'))).toBe(false);
    await visiting.close();
    await serving.check();
    await serving.close();
    expect(await answers(serving.databaseUrl)).toBe(false);
  });
});
