import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { holdWorkerLock, ownsSession, saveWorkers, unlockJobsOf, unlockJobsOfEndedWorkers } from './worker-store.ts';

let database: TestDatabase;
let client: Client;
let other: Client;
beforeEach(async () => {
  database = await cloneDatabase();
  [client, other] = [0, 1].map(() => new Client({ connectionString: database.url })) as [Client, Client];
  await Promise.all([client.connect(), other.connect()]);
});
afterEach(async () => {
  await Promise.all([client.end(), other.end()]);
  await database.drop();
});

const silentFor = (id: string, seconds: number) => database.sql`
  update runtime.workers set seen_at = now() - make_interval(secs => ${seconds}) where id = ${id}`;

test('a worker with a session lock has ended when its heartbeat is old and the lock is free, and never while it holds the lock', async () => {
  await holdWorkerLock(client, 'a');
  await saveWorkers(client, ['a', 'b'], true);
  await silentFor('a', 3600);
  await silentFor('b', 14);
  expect(await unlockJobsOfEndedWorkers(other)).toEqual({ workers: [], jobs: 0 });
  await silentFor('b', 16);
  expect(await unlockJobsOfEndedWorkers(other)).toEqual({ workers: ['b'], jobs: 0 });
  expect((await database.sql`select id from runtime.workers`).map((row) => row.id)).toEqual(['a']);
});

test('behind a transaction pooler a worker has ended after 45 seconds without a heartbeat, and its jobs are unlocked', async () => {
  await saveWorkers(client, ['c'], false);
  await database.sql`select graphile_worker.add_job('anything', '{}'::json)`;
  await database.sql`update graphile_worker._private_jobs set locked_by = 'c', locked_at = now()`;
  await silentFor('c', 44);
  expect((await unlockJobsOfEndedWorkers(other)).workers).toEqual([]);
  await silentFor('c', 46);
  expect(await unlockJobsOfEndedWorkers(other)).toEqual({ workers: ['c'], jobs: 1 });
  expect(await database.sql`select from graphile_worker.jobs where locked_by is not null`).toHaveLength(0);
});

test('a client owns its session when the server reports the process id that the client got at the start', async () => {
  const { processID } = client as unknown as { processID: number };
  expect(await ownsSession(client, processID)).toBe(true);
  expect(await ownsSession(client, processID + 1)).toBe(false);
});

describe('a job that was enqueued again under its key while a worker held it', () => {
  const hold = (worker: string) => database.sql`
    update graphile_worker._private_jobs set locked_by = ${worker}, locked_at = now(), attempts = attempts + 1
    where locked_by is null`;
  const add = (key: string | null) =>
    database.sql`select graphile_worker.add_job('anything', '{}'::json, job_key => ${key}, max_attempts => 3)`;
  const jobs = () => database.sql<{ key: string | null; attempts: number; locked: boolean }[]>`
    select key, attempts, locked_at is not null as locked from graphile_worker.jobs order by id`;

  beforeEach(async () => {
    await add('one');
    await hold('a');
    await add('one');
    // The last attempt of a job that was not replaced: it has failed, and an operator must see it.
    await add(null);
    await database.sql`update graphile_worker._private_jobs set attempts = 2 where locked_by is null and key is null`;
    await database.sql`
      update graphile_worker._private_jobs set locked_by = 'a', locked_at = now(), attempts = 3 where attempts = 2`;
  });
  const left = [
    { key: 'one', attempts: 0, locked: false },
    { key: null, attempts: 3, locked: false },
  ];

  test('is deleted when its worker has ended', async () => {
    await saveWorkers(client, ['a'], false);
    await silentFor('a', 60);
    expect((await unlockJobsOfEndedWorkers(other)).workers).toEqual(['a']);
    expect(await jobs()).toEqual(left);
  });

  test.each([[['a']], [null]])('is deleted when the jobs of %j are unlocked', async (workers) => {
    await unlockJobsOf(other, workers);
    expect(await jobs()).toEqual(left);
  });
});
