import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openLog } from '../observability/log.ts';
import { type Fresh, keepFresh, staleAfterMs } from './keep-fresh.ts';

const log = openLog({ level: 'silent' });
let reads: number;
let answer: () => Promise<void>;
let fresh: Fresh;
beforeEach(async () => {
  reads = 0;
  answer = async () => {};
  fresh = await keepFresh({
    read: () => {
      reads += 1;
      return answer();
    },
    what: 'test',
    log,
  });
});
afterEach(() => {
  fresh.close();
  vi.restoreAllMocks();
});
/** Moves the clocks forward, as after a pause of the process. */
const pause = (ms: number) => {
  const [ticks, wall] = [performance.now(), Date.now()];
  vi.spyOn(performance, 'now').mockImplementation(() => ticks + ms);
  vi.spyOn(Date, 'now').mockImplementation(() => wall + ms);
};

test('is fresh after its first read, and stays fresh by its timer', async () => {
  expect([reads, fresh.isFresh()]).toEqual([1, true]);
  await sleep(4_500);
  expect(reads).toBeGreaterThanOrEqual(3);
  expect(fresh.isFresh()).toBe(true);
});

test('after a pause all callers wait for one read', async () => {
  pause(staleAfterMs + 1);
  expect(fresh.isFresh()).toBe(false);
  await Promise.all([fresh.renew(), fresh.renew(), fresh.renew()]);
  expect([reads, fresh.isFresh()]).toEqual([2, true]);
});

test('a changed clock or a sleep of the machine counts as a pause', () => {
  const wall = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => wall + staleAfterMs + 1);
  expect(fresh.isFresh()).toBe(false);
});

test('a read that began before the pause does not count', async () => {
  const slow = Promise.withResolvers<void>();
  answer = () => slow.promise;
  const before = fresh.renew();
  pause(staleAfterMs + 1);
  const after = fresh.renew();
  answer = async () => {};
  slow.resolve();
  await Promise.all([before, after]);
  expect(fresh.isFresh()).toBe(true);
});

test('callers get 503 when the database fails or does not answer, and the data stays stale', async () => {
  pause(staleAfterMs + 1);
  answer = () => Promise.reject(new Error('away'));
  await expect(fresh.renew()).rejects.toMatchObject({ status: 503 });
  answer = () => new Promise(() => {});
  await expect(fresh.renew()).rejects.toMatchObject({ status: 503 });
  expect(fresh.isFresh()).toBe(false);
});
