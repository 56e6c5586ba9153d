import { AppError } from '@tradepost/core';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groupCommit } from './group-commit.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
/** Enough time for all work that is not blocked. */
const turns = async () => {
  for (let i = 0; i < 10; i += 1) await turn();
};

type Deferred = { promise: Promise<void>; resolve: () => void };
const deferred = (): Deferred => Promise.withResolvers<void>();

/** A writeMany whose batches wait until the test releases them. */
function held() {
  const batches: { items: readonly number[]; gate: Deferred }[] = [];
  const writeMany = async (items: readonly number[]) => {
    const gate = deferred();
    batches.push({ items, gate });
    await gate.promise;
    return items.map((item) => item * 10);
  };
  return { batches, writeMany };
}

const codeOf = (outcome: PromiseSettledResult<unknown>) =>
  outcome.status === 'rejected' && outcome.reason instanceof AppError ? outcome.reason.code : undefined;

describe('grouping', () => {
  test('on an idle server a single call is a batch of one and does not wait', async () => {
    const { batches, writeMany } = held();
    const write = groupCommit(writeMany);
    const answer = write(7);
    await turn();
    expect(batches.map((batch) => batch.items)).toEqual([[7]]);
    batches[0]!.gate.resolve();
    expect(await answer).toBe(70);
  });

  test('calls of one event-loop iteration share a batch, and each gets its own outcome', async () => {
    const sizes: number[] = [];
    const write = groupCommit(async (items: readonly number[]) => items.map((item) => `#${item}`), {
      onBatch: (size) => sizes.push(size),
    });
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => write(i)));
    expect(answers).toEqual(Array.from({ length: 100 }, (_, i) => `#${i}`));
    expect(sizes).toEqual([100]);
  });

  test('calls that arrive while batches run form the next batch, in order of arrival', async () => {
    const { batches, writeMany } = held();
    const write = groupCommit(writeMany, { maxInFlight: 2, patienceMs: 0 });
    const answers = [write(1)];
    await turn();
    answers.push(write(2));
    await turn();
    for (const item of [3, 4, 5]) {
      answers.push(write(item));
      await turn();
    }
    expect(batches.map((batch) => batch.items)).toEqual([[1], [2]]);
    batches[1]!.gate.resolve();
    await turns();
    expect(batches.map((batch) => batch.items)).toEqual([[1], [2], [3, 4, 5]]);
    for (const batch of batches) batch.gate.resolve();
    expect(await Promise.all(answers)).toEqual([10, 20, 30, 40, 50]);
  });

  test('another batch starts beside the running one when that one takes too long, or when it is full itself', async () => {
    const { batches, writeMany } = held();
    const write = groupCommit(writeMany, { maxBatch: 3, maxInFlight: 3, patienceMs: 100 });
    const answers = [write(1)];
    await turn();
    answers.push(write(2), write(3));
    await turns();
    expect(batches.map((batch) => batch.items)).toEqual([[1]]);
    answers.push(write(4));
    await turns();
    expect(batches.map((batch) => batch.items)).toEqual([[1], [2, 3, 4]]);
    answers.push(write(5));
    // No further call arrives and no batch ends. The blocked batches must not block this call for ever.
    while (batches.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(batches[2]!.items).toEqual([5]);
    for (const batch of batches) batch.gate.resolve();
    await Promise.all(answers);
  });

  test.each([
    { maxBatch: 100, maxInFlight: 3 },
    { maxBatch: 7, maxInFlight: 1 },
    { maxBatch: 1, maxInFlight: 5 },
  ])(
    'thousands of calls never pass $maxBatch in a batch or $maxInFlight at once, and each is written once',
    async (bounds) => {
      let running = 0;
      let mostRunning = 0;
      let largest = 0;
      const written: number[] = [];
      const write = groupCommit(
        async (items: readonly number[]) => {
          running += 1;
          mostRunning = Math.max(mostRunning, running);
          largest = Math.max(largest, items.length);
          written.push(...items);
          for (let i = 0; i <= items[0]! % 3; i += 1) await turn();
          running -= 1;
          return items.map((item) => item + 1);
        },
        { ...bounds, maxQueue: 10_000 },
      );
      const answers: Promise<number>[] = [];
      for (let i = 0; i < 5_000; i += 1) {
        answers.push(write(i));
        // Bursts of different sizes, so that calls meet idle, busy and full batches.
        if (i % 137 === 0 || i % 1_000 < 5) await turn();
      }
      expect(await Promise.all(answers)).toEqual(Array.from({ length: 5_000 }, (_, i) => i + 1));
      expect(written).toHaveLength(5_000);
      expect(new Set(written).size).toBe(5_000);
      expect(mostRunning).toBe(bounds.maxInFlight);
      expect(largest).toBe(bounds.maxBatch);
    },
  );
});

describe('outcomes', () => {
  test('a refusal rejects only the call of its caller', async () => {
    const write = groupCommit(async (items: readonly number[]) =>
      items.map((item) => (item % 2 === 0 ? item : new RangeError(`no ${item}`))),
    );
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(write));
    expect(outcomes.map((o) => (o.status === 'fulfilled' ? o.value : o.reason.message))).toEqual([
      'no 1',
      2,
      'no 3',
      4,
    ]);
  });

  test.each([0, 1, 3])(
    'writeMany answering %i outcomes for two calls fails both instead of mixing them up',
    async (n) => {
      let runs = 0;
      const write = groupCommit(async (_items: readonly number[]) => {
        runs += 1;
        return Array.from({ length: n }, () => 'someone else’s');
      });
      const outcomes = await Promise.allSettled([write(1), write(2)]);
      for (const outcome of outcomes) {
        expect(outcome.status).toBe('rejected');
        expect(String((outcome as PromiseRejectedResult).reason)).toContain(`${n} outcomes for 2 items`);
      }
      expect(runs).toBe(1);
    },
  );

  test('an error in writeMany, synchronous or not, is not repeated and does not stop later calls', async () => {
    let runs = 0;
    const write = groupCommit((items: readonly number[]): Promise<readonly number[]> => {
      runs += 1;
      if (runs === 1) throw new TypeError('at once');
      if (runs === 2) return Promise.reject(new TypeError('later'));
      return Promise.resolve(items);
    });
    for (const message of ['at once', 'later']) {
      const outcomes = await Promise.allSettled([write(1), write(2)]);
      expect(outcomes.map((o) => (o as PromiseRejectedResult).reason.message)).toEqual([message, message]);
    }
    expect(await write(5)).toBe(5);
    expect(runs).toBe(3);
  });
});

describe('limits', () => {
  test('a full queue refuses calls with 503, and accepts calls when it is shorter again', async () => {
    const { batches, writeMany } = held();
    const write = groupCommit(writeMany, { maxBatch: 2, maxInFlight: 1, maxQueue: 3 });
    const first = write(0);
    await turn();
    const queued = [1, 2, 3].map(write);
    const [refused] = await Promise.allSettled([write(4)]);
    expect(codeOf(refused!)).toBe(503);
    batches[0]!.gate.resolve();
    expect(await first).toBe(0);
    await turns();
    const late = write(5);
    for (let done = 1; done <= 3; done += 1) {
      await turns();
      batches[done]?.gate.resolve();
    }
    expect(await Promise.all([...queued, late])).toEqual([10, 20, 30, 50]);
    expect(batches.flatMap((batch) => batch.items)).toEqual([0, 1, 2, 3, 5]);
  });

  test('drain refuses new calls, and resolves after the queued calls have ended', async () => {
    const { batches, writeMany } = held();
    const write = groupCommit(writeMany, { maxBatch: 2, maxInFlight: 1 });
    const answers = [1, 2, 3].map(write);
    let drained = 0;
    const drains = [write.drain(), write.drain()].map((drain) => drain.then(() => (drained += 1)));
    const [refused] = await Promise.allSettled([write(9)]);
    expect(codeOf(refused!)).toBe(503);
    await turns();
    batches[0]!.gate.resolve();
    await turns();
    expect(batches.map((batch) => batch.items)).toEqual([[1, 2], [3]]);
    expect(drained).toBe(0);
    batches[1]!.gate.resolve();
    expect(await Promise.all(answers)).toEqual([10, 20, 30]);
    await Promise.all(drains);
    expect(drained).toBe(2);
    await write.drain();
  });

  test('drain resolves when the last batch fails', async () => {
    const write = groupCommit(async (_items: readonly number[]): Promise<number[]> => {
      throw new Error('no');
    });
    const outcomes = Promise.allSettled([write(1)]);
    await write.drain();
    expect((await outcomes)[0]!.status).toBe('rejected');
    await groupCommit(async (items: readonly number[]) => items).drain();
  });
});

describe('on PostgreSQL', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await cloneDatabase();
    await database.sql.unsafe('create table written (item int not null check (item <> 13), batch uuid not null)');
  });
  afterAll(async () => {
    await database.drop();
  });

  const insertAll = async (items: readonly number[]) => {
    const rows = await database.sql.begin(
      (tx) => tx<{ item: number }[]>`
      with batch as materialized (select gen_random_uuid() as id)
      insert into written select item, batch.id from unnest(${items as number[]}::int[]) as item, batch returning item`,
    );
    return rows.map((row) => row.item * 10);
  };
  const stored = async () =>
    (await database.sql<{ item: number }[]>`select item from written order by item`).map((row) => row.item);

  test('a call that fails in the database gets the error, the other calls of its batch are written exactly once', async () => {
    const sizes: number[] = [];
    const write = groupCommit(insertAll, { onBatch: (size) => sizes.push(size) });
    const items = [10, 11, 12, 13, 14, 15];
    const outcomes = await Promise.allSettled(items.map(write));
    expect(outcomes.map((o) => (o.status === 'fulfilled' ? o.value : o.reason.code))).toEqual([
      100,
      110,
      120,
      '23514',
      140,
      150,
    ]);
    expect(await stored()).toEqual([10, 11, 12, 14, 15]);
    expect(sizes).toEqual([6, 1, 1, 1, 1, 1, 1]);
  });

  test('a call that fails in the database alone is not repeated', async () => {
    let runs = 0;
    const write = groupCommit((items: readonly number[]) => {
      runs += 1;
      return insertAll(items);
    });
    await expect(write(13)).rejects.toMatchObject({ code: '23514' });
    expect(runs).toBe(1);
  });

  test('when the connection is lost during a batch, all callers get 503 with the advice to check, and nothing is repeated', async () => {
    await database.sql`truncate written`;
    let runs = 0;
    const write = groupCommit((items: readonly number[]) => {
      runs += 1;
      return database.sql.begin(async (tx) => {
        await tx`insert into written select item, gen_random_uuid() from unnest(${items as number[]}::int[]) as item`;
        await tx`select pg_terminate_backend(pg_backend_pid())`;
        return items;
      });
    });
    const outcomes = await Promise.allSettled([1, 2, 3].map(write));
    expect(outcomes.map(codeOf)).toEqual([503, 503, 503]);
    for (const outcome of outcomes)
      expect((outcome as PromiseRejectedResult).reason).toMatchObject({
        refusalName: 'unknown_outcome',
        status: 503,
        cause: expect.any(Error),
      });
    expect(runs).toBe(1);
    expect(await stored()).toEqual([]);
    // The pool has replaced the connection: the next call succeeds.
    expect(await groupCommit(insertAll)(4)).toBe(40);
  });

  test('the connection is terminated while a batch waits for a lock', async () => {
    await database.sql`truncate written`;
    const { sql } = database;
    const locked = deferred();
    const release = deferred();
    const holder = sql.begin(async (tx) => {
      await tx`lock table written in exclusive mode`;
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    let runs = 0;
    const write = groupCommit((items: readonly number[]) => {
      runs += 1;
      return insertAll(items);
    });
    const settled = Promise.allSettled([1, 2].map(write));
    for (let killed = 0; killed === 0; )
      killed = (
        await sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`
      ).length;
    expect((await settled).map(codeOf)).toEqual([503, 503]);
    release.resolve();
    await holder;
    expect(runs).toBe(1);
    expect(await stored()).toEqual([]);
  });

  test('after a deadlock, which rolls back, the calls are repeated one by one and succeed', async () => {
    await database.sql`truncate written`;
    let runs = 0;
    const write = groupCommit((items: readonly number[]) => {
      runs += 1;
      if (runs > 1) return insertAll(items);
      return database.sql.begin(async (tx) => {
        await tx`insert into written select item, gen_random_uuid() from unnest(${items as number[]}::int[]) as item`;
        await tx`do $$ begin raise exception using errcode = 'deadlock_detected', message = 'deadlock'; end $$`;
        return [] as number[];
      });
    });
    expect(await Promise.all([1, 2].map(write))).toEqual([10, 20]);
    expect(await stored()).toEqual([1, 2]);
    expect(runs).toBe(3);
  });
});
