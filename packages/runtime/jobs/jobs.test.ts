import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openLog } from '../observability/log.ts';
import { openMetrics } from '../observability/metrics.ts';
import { currentTrace, traceOf, withTrace } from '../observability/trace.ts';
import { enqueueJobs, type Job, type Tasks, type Worker, type WorkerDeps } from './jobs.ts';
import { runDueJobs, startWorker, unlockJobs } from './run-jobs.ts';

let database: TestDatabase;
let lines: string[];
const workers: Worker[] = [];

beforeEach(async () => {
  database = await cloneDatabase();
  lines = [];
});
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop().catch(() => {});
  // Fails when a worker has left a connection open.
  await dropWithoutLeak(database);
});

/** pg closes its connections without waiting for the server. A connection that exists after a while is a leak. */
async function dropWithoutLeak(database: TestDatabase): Promise<void> {
  const left = () => database.sql`
    select pid from pg_stat_activity where datname = current_database() and application_name <> 'test'`;
  await vi.waitFor(async () => expect(await left()).toEqual([]), { timeout: 3_000 });
  await database.drop();
}

function deps(tasks: Tasks): WorkerDeps {
  const log = openLog({ level: 'info', stream: { write: (line: string) => lines.push(line) } });
  return { url: database.url, tasks, concurrency: 2, log, metrics: openMetrics(), shutdownMs: 10_000 };
}
const enqueue = (...jobs: Job[]) => database.sql.begin((tx) => enqueueJobs(tx, jobs));
const waiting = () => database.sql<{ task: string; attempts: number; key: string | null; last_error: string | null }[]>`
  select task_identifier as task, attempts, key, last_error from graphile_worker.jobs order by id`;
/** Makes retries that are due in hours due now. */
const makeDue = () => database.sql`update graphile_worker._private_jobs set run_at = now() - interval '1 second'`;

describe('enqueueing', () => {
  test('a job exists exactly when its transaction commits', async () => {
    await expect(
      database.sql.begin(async (tx) => {
        await enqueueJobs(tx, [{ task: 'notify', payload: { order: 1 } }]);
        throw new Error('the order failed');
      }),
    ).rejects.toThrow('the order failed');
    expect(await waiting()).toEqual([]);
    const ran: unknown[] = [];
    await enqueue({ task: 'notify', payload: { order: 2 } });
    await runDueJobs(deps({ notify: async (payload) => void ran.push(payload) }));
    await runDueJobs(deps({ notify: async (payload) => void ran.push(payload) }));
    expect(ran).toEqual([{ order: 2 }]);
    expect(await waiting()).toEqual([]);
  });

  test('a job belongs to the trace of the request that caused it; one without a request has a trace of its own', async () => {
    const ran: [unknown, string | undefined][] = [];
    const id = '4bf92f3577b34da6a3ce929d0e0e4736';
    await withTrace(traceOf(`00-${id}-00f067aa0ba902b7-01`), () => enqueue({ task: 'echo', payload: { order: 1 } }));
    await enqueue({ task: 'echo', payload: { order: 2 } });
    const echo = async (payload: unknown) => void ran.push([payload, currentTrace()?.id]);
    await runDueJobs({ ...deps({ echo }), concurrency: 1 });
    expect(ran).toEqual([
      [{ order: 1 }, id],
      [{ order: 2 }, expect.stringMatching(/^[0-9a-f]{32}$/)],
    ]);
    expect(ran[1]![1]).not.toBe(id);
  });

  test('a handler gets the payload unchanged', async () => {
    const payloads = [{ text: "it's “quoted” 值 \\ \n", list: [1, null, { a: true }] }, {}, [], 'text', 7];
    const ran: unknown[] = [];
    await enqueue(...payloads.map((payload) => ({ task: 'echo', payload })), { task: 'echo', payload: undefined });
    await runDueJobs({ ...deps({ echo: async (payload) => void ran.push(payload) }), concurrency: 1 });
    expect(ran).toEqual([...payloads, {}]);
    await enqueue();
  });

  test('a later job with the same key replaces the waiting one', async () => {
    const ran: unknown[] = [];
    await enqueue({ task: 'sync', payload: 1, key: 'order:1' }, { task: 'sync', payload: 2, key: 'order:1' });
    await enqueue({ task: 'sync', payload: 3, key: 'order:1' }, { task: 'sync', payload: 9, key: 'order:2' });
    expect((await waiting()).map((job) => job.key)).toEqual(['order:1', 'order:2']);
    await runDueJobs({ ...deps({ sync: async (payload) => void ran.push(payload) }), concurrency: 1 });
    expect(ran).toEqual([3, 9]);
  });

  test('a job with a lower priority number starts before older ones', async () => {
    const ran: unknown[] = [];
    for (const [payload, priority] of [[1], [2, 10], [3, -10]] as const)
      await enqueue({ task: 'echo', payload, ...(priority === undefined ? {} : { priority }) });
    await runDueJobs({ ...deps({ echo: async (payload) => void ran.push(payload) }), concurrency: 1 });
    expect(ran).toEqual([3, 1, 2]);
  });

  test('a job with a later time waits for it', async () => {
    const ran: unknown[] = [];
    const tasks = { remind: async (payload: unknown) => void ran.push(payload) };
    await enqueue({ task: 'remind', payload: 1, runAt: new Date(Date.now() + 3_600_000) });
    await runDueJobs(deps(tasks));
    expect(ran).toEqual([]);
    await makeDue();
    await runDueJobs(deps(tasks));
    expect(ran).toEqual([1]);
  });
});

describe('a job that fails', () => {
  test('is kept with its error, retried later, and removed when it succeeds', async () => {
    let runs = 0;
    const flaky = deps({
      flaky: async () => {
        runs += 1;
        if (runs < 3) throw new Error(`carrier does not answer (${runs})`);
      },
    });
    await enqueue({ task: 'flaky', payload: {} });
    await runDueJobs(flaky);
    expect(await waiting()).toMatchObject([{ attempts: 1, last_error: expect.stringContaining('answer (1)') }]);
    // Not at once: a partner that is down must not get many requests.
    await runDueJobs(flaky);
    expect(runs).toBe(1);
    await makeDue();
    await runDueJobs(flaky);
    expect(await waiting()).toMatchObject([{ attempts: 2, last_error: expect.stringContaining('answer (2)') }]);
    await makeDue();
    await runDueJobs(flaky);
    expect(await waiting()).toEqual([]);
    const { values } = await flaky.metrics.jobs.get();
    expect(values.map(({ labels, value }) => [labels.result, value])).toEqual([
      ['failed', 2],
      ['done', 1],
    ]);
  });

  test('fails for good after its attempts, and stays in the table for the operator', async () => {
    const doomed = deps({ doomed: () => Promise.reject(new Error('never')) });
    await enqueue({ task: 'doomed', payload: {}, maxAttempts: 2 });
    for (let i = 0; i < 4; i += 1) {
      await runDueJobs(doomed);
      await makeDue();
    }
    expect(await waiting()).toMatchObject([{ attempts: 2, last_error: expect.stringContaining('never') }]);
  });

  test('does not delay other jobs', async () => {
    const ran: unknown[] = [];
    await enqueue({ task: 'bad', payload: {} }, { task: 'good', payload: 1 });
    const tasks: Tasks = {
      bad: () => Promise.reject(new Error('bad')),
      good: async (payload) => void ran.push(payload),
    };
    await runDueJobs({ ...deps(tasks), concurrency: 1 });
    expect(ran).toEqual([1]);
  });

  test('is logged with its task and code, without payload, statement or data', async () => {
    await database.sql`create table members (email text unique)`;
    await database.sql`insert into members values ('ann@example.com')`;
    const failing = deps({
      save: async (payload) => {
        const { email } = payload as { email: string };
        await database.sql`insert into members values (${email})`;
      },
    });
    await enqueue({ task: 'save', payload: { email: 'ann@example.com', note: 'private' } });
    await runDueJobs(failing);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({ task: 'save', err: { code: '23505' } });
    expect(lines[0]).not.toMatch(/ann@example|private|insert into/);
  });
});

describe('the worker', () => {
  const start = async (of: WorkerDeps, crons: { task: string; match: string }[] = []) => {
    const worker = await startWorker({ ...of, crons });
    workers.push(worker);
    return worker;
  };

  test('runs jobs that are enqueued later, and stop waits for the running job', async () => {
    const started = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    let finished = false;
    const worker = await start(
      deps({
        slow: async () => {
          started.resolve();
          await release.promise;
          await database.sql`select 1`;
          finished = true;
        },
      }),
    );
    await enqueue({ task: 'slow', payload: {} });
    await started.promise;
    let stopped = false;
    const stopping = worker.stop().then(() => {
      stopped = true;
    });
    await enqueue({ task: 'slow', payload: {} });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(stopped).toBe(false);
    release.resolve();
    await stopping;
    expect(finished).toBe(true);
    // The finished job is deleted. The job that was enqueued too late waits, unlocked, for the next start.
    const left = await database.sql`select attempts, locked_at from graphile_worker.jobs`;
    expect(left).toEqual([{ attempts: 0, locked_at: null }]);
  });

  test('leaves no connection open', async () => {
    const worker = await start(deps({ nothing: async () => {} }));
    const connections = () => database.sql<{ pid: number }[]>`
      select pid from pg_stat_activity where datname = current_database() and application_name <> 'test'`;
    expect((await connections()).length).toBeGreaterThan(0);
    await worker.stop();
    await vi.waitFor(async () => expect(await connections()).toEqual([]));
  });

  test('accepts cron patterns, and an invalid pattern stops the start', async () => {
    await start(deps({ expire_orders: async () => {} }), [{ task: 'expire_orders', match: '*/5 * * * *' }]);
    await vi.waitFor(async () =>
      expect(await database.sql`select identifier from graphile_worker._private_known_crontabs`).toEqual([
        { identifier: 'expire_orders' },
      ]),
    );
    for (const match of ['every day', '61 * * * *', '* * *'])
      await expect(startWorker({ ...deps({}), crons: [{ task: 'x', match }] })).rejects.toThrow();
  });

  test('two workers share the jobs: each runs once', async () => {
    const ran: number[] = [];
    const tasks: Tasks = { count: async (payload) => void ran.push(payload as number) };
    await start(deps(tasks));
    await start(deps(tasks));
    await enqueue(...Array.from({ length: 100 }, (_, i) => ({ task: 'count', payload: i })));
    await vi.waitFor(async () => expect(await waiting()).toEqual([]), { timeout: 15_000 });
    expect(ran.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });
});

test('jobs that a killed worker has locked run again when they are unlocked', async () => {
  const ran: unknown[] = [];
  const tasks = deps({ notify: async (payload) => void ran.push(payload) });
  await enqueue({ task: 'notify', payload: { order: 1 } });
  await database.sql`
    update graphile_worker._private_jobs set locked_by = 'killed', locked_at = now(), attempts = 1`;
  await runDueJobs(tasks);
  expect(ran).toEqual([]);
  await unlockJobs(database.url);
  await makeDue();
  await runDueJobs(tasks);
  expect(ran).toEqual([{ order: 1 }]);
  // Without locked jobs it does nothing.
  await unlockJobs(database.url);
});

test('a worker that was stopped is not kept in memory, and neither are the services of its tasks', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const runAndStop = async () => {
    const service = { use: () => {} };
    const worker = await startWorker({
      ...deps({ notify: async () => service.use() }),
      ...{ shutdownMs: 100, crons: [] },
    });
    await worker.stop();
    return new WeakRef(service);
  };
  const service = await runAndStop();
  await expect
    .poll(() => {
      collect();
      return service.deref() === undefined;
    })
    .toBe(true);
});
