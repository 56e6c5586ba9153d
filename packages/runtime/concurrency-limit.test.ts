import { expect, test } from 'vitest';
import { createConcurrencyLimit, withSlot } from './concurrency-limit.ts';

test('the number of active calls never exceeds the limit, and the queue is first in, first out', async () => {
  const limit = createConcurrencyLimit({ active: 2, queued: 10 });
  const served: number[] = [];
  let inside = 0;
  let most = 0;
  await Promise.all(
    [0, 1, 2, 3, 4, 5].map(async (n) => {
      expect(await limit.acquire()).toBe(true);
      inside += 1;
      most = Math.max(most, inside);
      served.push(n);
      await new Promise(setImmediate);
      inside -= 1;
      limit.release();
    }),
  );
  expect(most).toBe(2);
  expect(served).toEqual([0, 1, 2, 3, 4, 5]);
});

test('an aborted call takes no slot, and a full queue refuses at once', async () => {
  const limit = createConcurrencyLimit({ active: 1, queued: 1 });
  await limit.acquire();
  const leaving = new AbortController();
  const waits = limit.acquire(leaving.signal);
  expect(await limit.acquire()).toBe(false);
  leaving.abort();
  expect(await waits).toBe(false);
  const next = limit.acquire();
  limit.release();
  expect(await next).toBe(true);
  limit.release();
  expect(await limit.acquire()).toBe(true);
});

test('work has a slot until it ends, also when it throws, and is refused with 503 when the queue is full', async () => {
  const limit = createConcurrencyLimit({ active: 1, queued: 1 });
  const first = withSlot(limit, async () => {
    await new Promise(setImmediate);
    throw new Error('work');
  });
  const second = withSlot(limit, async () => 2);
  await expect(withSlot(limit, async () => 3)).rejects.toMatchObject({ status: 503 });
  await expect(first).rejects.toThrow('work');
  expect(await second).toBe(2);
});
