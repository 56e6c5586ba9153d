import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase, type Sql } from '@tradepost/postgres';
import { type RunningServer, startProcess } from '@tradepost/testing/processes/process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findEmbeddedPostgres, startEmbeddedPostgres } from './index.ts';

/** The embedded PostgreSQL ends while the shop runs. The shop starts it again in place, or reports why it cannot. */
let data: string;
let server: RunningServer;
const startShop = () => startProcess(['--data', data, '--seed', 'none'], { LOG_LEVEL: 'info' });
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'tradepost-restart-'));
  await chmod(data, 0o755);
  server = await startShop();
});
afterAll(async () => {
  server.child.kill('SIGKILL');
  await server.ended;
  await (await startEmbeddedPostgres({ directory: join(data, 'postgres') })).stop();
  await rm(data, { recursive: true, force: true });
});

const found = () => findEmbeddedPostgres(join(data, 'postgres'));
/** The pid of the server. 0 while the pid file is missing: between the end of a server and the start of the next one. */
async function postmaster(): Promise<number> {
  const { dataDirectory } = await found();
  const path = join(dataDirectory, 'postmaster.pid');
  return existsSync(path) ? Number(readFileSync(path, 'utf8').split('\n')[0]) : 0;
}
async function withDatabase<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = openDatabase((await found()).url!, { max: 1 });
  return work(sql).finally(() => sql.end({ timeout: 1 }));
}
const ask = async (path: string) => {
  const answer = await fetch(`${server.url}${path}`);
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, unknown> };
};
async function until<T>(what: string, look: () => Promise<T | null | false>, ms = 30_000): Promise<T> {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(20)) {
    const seen = await look();
    if (seen) return seen;
  }
  throw new Error(`${what}: not within ${ms} ms; ${server.output()}`);
}
const serves = async () => (await ask('/api/v1/products?page_size=1')).status === 200;
const away = async () => {
  const answer = await ask('/api/v1/products?page_size=1');
  return answer.status === 503 && answer;
};

describe('the embedded PostgreSQL ends while the shop runs', () => {
  test('kill -9 of one backend: PostgreSQL recovers by itself and the shop keeps serving', async () => {
    const before = await postmaster();
    const pid = await withDatabase(async (sql) => {
      const [row] = await sql<{ pid: number }[]>`
        select pid from pg_stat_activity where application_name = 'tradepost' limit 1`;
      return row!.pid;
    });
    process.kill(pid, 'SIGKILL');
    await until('the shop serves again', serves);
    expect(await postmaster()).toBe(before);
    expect(server.child.exitCode).toBeNull();
  });

  test('kill -9 during a long statement: requests get 503 with Retry-After, then the shop and its jobs continue', async () => {
    // The statement holds the shared memory of the killed server: without a signal no new server could start for half a
    // minute.
    const busy = openDatabase((await found()).url!, { max: 1 });
    const statement = busy.unsafe('do $$ begin for i in 1..2000000000 loop null; end loop; end $$').catch(() => null);
    await until('a long statement', () =>
      withDatabase(async (sql) => (await sql`select from pg_stat_activity where query like 'do %loop%'`).length > 0),
    );
    process.kill(await postmaster(), 'SIGKILL');
    const refused = await until('a refusal', away);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(refused.body).toMatchObject({ code: 503, data: null });
    await until('the shop serves again', serves, 20_000);
    expect((await ask('/ready')).status).toBe(200);
    await withDatabase(async (sql) => {
      await sql`select graphile_worker.add_job('orders.expire', '{}'::json)`;
      await until('a job is done', async () => {
        const left =
          await sql`select from graphile_worker.jobs where task_identifier = 'orders.expire' and key is null`;
        return left.length === 0;
      });
      // The server gets the changes of other commands again.
      await sql`insert into runtime.settings (key, value) values ('shop.locale', '"en"')`;
      await sql`select pg_notify('tradepost', 'settings changed')`;
    });
    await until('the changed setting is effective', async () => {
      const { body } = await ask('/api/v1/orders');
      return body.message === 'Please log in';
    });
    expect(server.output()).toContain('is started again');
    await statement;
    await busy.end({ timeout: 1 });
    server.child.kill('SIGTERM');
    expect(await server.ended).toBe(0);
  });

  test('after the fourth end within a minute the shop reports it and exits with 1', async () => {
    // Another process: the ends that the first one has counted must not count here.
    server = await startShop();
    for (let time = 1; time <= 4; time += 1) {
      const pid = await until('the database', async () => ((await found()).state === 'running' ? postmaster() : null));
      process.kill(pid, 'SIGKILL');
      if (time < 4)
        await until(`the shop serves after end ${time}`, async () => (await postmaster()) !== pid && serves());
    }
    expect(await server.ended).toBe(1);
    expect(server.output()).toMatch(/ended unexpectedly.*ended 4 times within 60 s: giving up/);
  });
});
