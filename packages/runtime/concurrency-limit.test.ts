import { expect, test } from 'vitest';
import { createConcurrencyLimit } from './concurrency-limit.ts';

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
