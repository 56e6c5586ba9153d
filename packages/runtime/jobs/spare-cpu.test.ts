import { expect, test } from 'vitest';
import { openSpareCpu } from './spare-cpu.ts';

const never = new AbortController().signal;

/** A machine and a process whose idle times are set, and the milliseconds that `rest` took for a piece of work. */
function machine() {
  const state = { now: 0, idle: 0, all: 0, loopIdle: 0, loopAll: 0 };
  const rest = openSpareCpu(
    () => ({ ...state }),
    () => state.now,
  );
  return {
    async windows(count: number, idlePart: number, loopIdlePart = 0.5) {
      for (let window = 0; window < count; window += 1) {
        state.now += 250;
        state.all += 500;
        state.idle += 500 * idlePart;
        state.loopAll += 250;
        state.loopIdle += 250 * loopIdlePart;
        await rest(0, never);
      }
    },
    async restAfter(workedMs: number): Promise<number> {
      const begun = performance.now();
      await rest(workedMs, never);
      return performance.now() - begun;
    },
    rest,
  };
}

test('work that can wait does not wait while there is idle CPU time', async () => {
  const { windows, restAfter } = machine();
  await windows(4, 0.5);
  expect(await restAfter(1_000)).toBeLessThan(1_000);
});

test('without idle CPU time it gets a twentieth of the time, and all of it again later', async () => {
  const { windows, restAfter } = machine();
  await windows(1, 0.05);
  expect(await restAfter(100)).toBeGreaterThanOrEqual(99);
  await windows(10, 0);
  expect(await restAfter(10)).toBeGreaterThanOrEqual(189);
  await windows(10, 0.3);
  expect(await restAfter(1_000)).toBeLessThan(1_000);
});

test('a busy event loop counts too, also on a machine with idle cores', async () => {
  const { windows, restAfter } = machine();
  await windows(10, 0.9, 0.05);
  expect(await restAfter(10)).toBeGreaterThanOrEqual(189);
});

test('a long piece of work waits two seconds at most, and a stop ends the wait', async () => {
  const { windows, rest } = machine();
  await windows(10, 0);
  const stopping = new AbortController();
  const begun = performance.now();
  const resting = rest(60_000, stopping.signal);
  setTimeout(() => stopping.abort(), 50);
  await resting;
  expect(performance.now() - begun).toBeLessThan(1_900);
  const again = performance.now();
  await rest(60_000, never);
  expect(performance.now() - again).toBeGreaterThanOrEqual(1_990);
  expect(performance.now() - again).toBeLessThan(30_000);
});
