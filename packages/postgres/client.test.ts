import { setTimeout as sleep } from 'node:timers/promises';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase, type Sql, writeTransaction } from './client.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(async () => {
  await database.drop();
});

const kill = (name: string) => database.sql`
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and application_name = ${name}`;

const backends = async (name: string): Promise<number> => {
  const [row] = await database.sql<{ n: number }[]>`
    select count(*) as n from pg_stat_activity where datname = current_database() and application_name = ${name}`;
  return row!.n;
};

// An exception outside a promise would end the server. Vitest fails the whole run for it.
describe('connections that are lost repeatedly under load', () => {
  test.each([
    ['single statements', (sql: Sql) => sql`select ${1}::int`],
    [
      'transactions',
      (sql: Sql) =>
        sql.begin(async (tx) => {
          await tx`select ${1}::int`;
          await tx`select pg_sleep(0.001)`;
        }),
    ],
    [
      'transactions that send COMMIT with the last statement',
      (sql: Sql) =>
        writeTransaction(sql, async (tx) => {
          await tx`select ${1}::int`;
          return { value: null, last: [tx`select pg_sleep(0.001)`] };
        }),
    ],
    [
      'transactions that continue after an error',
      (sql: Sql) =>
        sql.begin(async (tx) => {
          await tx.savepoint((inner) => inner`select pg_sleep(0.002)`).catch(() => {});
          await sleep(3);
          await Promise.allSettled([tx`select 1`, tx`select ${2}::int`]);
        }),
    ],
  ])('%s: the process survives, every caller gets an answer, and the whole pool recovers', async (name, work) => {
    const size = 6;
    const sql = openDatabase(database.url, { max: size, name });
    let done = false;
    let answered = 0;
    const caller = async () => {
      while (!done) {
        await Promise.resolve(work(sql)).catch((error: { code?: string }) => {
          expect(String(error.code)).toMatch(/^(57P01|ECONNRESET|EPIPE|CONNECTION_CLOSED)$/);
        });
        answered += 1;
        await sleep(0);
      }
    };
    const callers = Promise.all(Array.from({ length: 30 }, caller));
    for (let round = 0; round < 25; round += 1) {
      const before = answered;
      await kill(name);
      while (answered < before + 20) await sleep(5);
    }
    while ((await backends(name)) < size) await sleep(10);
    done = true;
    await callers;
    // Each connection of the pool at once.
    await Promise.all(Array.from({ length: size }, () => sql`select pg_sleep(0.05)`));
    await sql.end({ timeout: 1 });
  });

  test('connections that are lost while the pool is idle do not fail the next caller', async () => {
    const sql = openDatabase(database.url, { max: 3, name: 'idle' });
    await Promise.all(Array.from({ length: 3 }, () => sql`select pg_sleep(0.02)`));
    await kill('idle');
    while ((await backends('idle')) > 0) await sleep(5);
    // Gives this process time to notice that the connections are closed.
    await sleep(250);
    for (let i = 0; i < 6; i += 1) expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
    await sql.end({ timeout: 1 });
  });
});

test('a bigint that JavaScript cannot represent is an error, and not the id of another order', async () => {
  expect(await database.sql`select 9007199254740991::bigint as id`).toEqual([{ id: 9_007_199_254_740_991 }]);
  await expect(database.sql`select 9007199254740992::bigint as id`).rejects.toThrow(RangeError);
  expect(await database.sql`select 1 as one`).toEqual([{ one: 1 }]);
});

test('arrays of ids are sent and read as numbers', async () => {
  expect(await database.sql`select ${[1, 2]}::bigint[] as ids`).toEqual([{ ids: [1, 2] }]);
});

describe('writeTransaction', () => {
  test('a last statement that fails rolls back its own transaction and no other one', async () => {
    const sql = openDatabase(database.url, { max: 3 });
    await sql`create table written (n int primary key, part text not null)`;
    const write = (n: number) =>
      writeTransaction(sql, async (tx) => {
        await tx`insert into written values (${n}, 'first')`;
        // One third fails in a statement that is sent with COMMIT, one third before it.
        if (n % 3 === 1) throw new Error('refused');
        const last = tx`insert into written values (${n % 3 === 2 ? n : n + 1_000}, 'last')`;
        return { value: n, last: [tx`select 1`, last, tx`select 1`] };
      });
    const outcomes = await Promise.allSettled(Array.from({ length: 300 }, (_, n) => write(n)));
    outcomes.forEach((outcome, n) => {
      expect(outcome.status, String(n)).toBe(n % 3 === 0 ? 'fulfilled' : 'rejected');
    });
    const rows = await sql<{ n: number }[]>`select n from written order by n`;
    const good = Array.from({ length: 100 }, (_, i) => i * 3);
    expect(rows.map((row) => row.n)).toEqual([...good, ...good.map((n) => n + 1_000)]);
    const open = await sql`
      select state from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`;
    expect(open).toHaveLength(0);
    await sql.end();
  });

  test('rejects when BEGIN cannot be sent', async () => {
    const sql = openDatabase('postgres://user@127.0.0.1:1/database', { max: 1 });
    await expect(writeTransaction(sql, async () => ({ value: 1, last: [] }))).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
    await sql.end();
  });
});
