import { expect, test } from 'vitest';
import { openTurns } from './turns.ts';

const never = new AbortController().signal;

test('no more are let in than there are places, and those who wait follow in the order in which they came', async () => {
  const turns = openTurns(2, 10);
  const served: number[] = [];
  let inside = 0;
  let most = 0;
  await Promise.all(
    [0, 1, 2, 3, 4, 5].map(async (n) => {
      expect(await turns.take(never)).toBe(true);
      inside += 1;
      most = Math.max(most, inside);
      served.push(n);
      await new Promise(setImmediate);
      inside -= 1;
      turns.give();
    }),
  );
  expect(most).toBe(2);
  expect(served).toEqual([0, 1, 2, 3, 4, 5]);
});

test('who gives up waiting takes no place along, and who finds the line full is told at once', async () => {
  const turns = openTurns(1, 1);
  await turns.take(never);
  const leaving = new AbortController();
  const waits = turns.take(leaving.signal);
  expect(await turns.take(never)).toBe(false);
  leaving.abort();
  expect(await waits).toBe(false);
  const next = turns.take(never);
  turns.give();
  expect(await next).toBe(true);
  turns.give();
  expect(await turns.take(never)).toBe(true);
});
