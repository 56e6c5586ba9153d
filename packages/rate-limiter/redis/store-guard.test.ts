import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Missed, openStoreGuard, type StoreGuard } from './store-guard.ts';

/** How long a request waits for the store, and when it is not sent. The clock is fake. */
let deadlineMs: number;
let missed: (readonly [string, string | undefined])[];
let recoveries: number;
let guard: StoreGuard;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'] });
  deadlineMs = 50;
  missed = [];
  recoveries = 0;
  guard = openStoreGuard({
    deadlineMs: () => deadlineMs,
    onMiss: (why, error) => missed.push([why, (error as Error | undefined)?.message]),
    onRecovery: () => {
      recoveries += 1;
    },
  });
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const never = () => new Promise<string>(() => {});
const answers = async () => 'answer';
const fails = () => Promise.reject(new Error('down'));
const after = (ms: number) => () => new Promise<string>((resolve) => setTimeout(() => resolve('answer'), ms));
/** Makes a call. `result` stays null until it ends. */
function start(send: () => Promise<string>): { result: string | null } {
  const call: { result: string | Missed | null } = { result: null };
  const answer = guard.call(send);
  if (typeof answer === 'string') call.result = answer;
  else
    void answer.then((result) => {
      call.result = result;
    });
  return call;
}
/** Waits until the circuit allows a call. Returns the milliseconds. */
async function pauseOf(): Promise<number> {
  let ms = 0;
  for (; guard.isOpen(); ms += 10) await pass(10);
  return ms;
}
async function openCircuit() {
  for (let i = 0; i < 5; i += 1) await guard.call(fails);
}

describe('the deadline', () => {
  test('holds to the millisecond, and an answer within it is returned', async () => {
    const calls = [start(never), start(after(49)), start(answers)];
    await pass(49);
    expect(calls).toEqual([{ result: null }, { result: 'answer' }, { result: 'answer' }]);
    await pass(2);
    expect(calls[0]).toEqual({ result: 'timeout' });
    expect(missed).toEqual([['timeout', undefined]]);
  });

  test('applies to each call, although all calls share one timer', async () => {
    const calls: ReturnType<typeof start>[] = [];
    for (let i = 0; i < 4; i += 1) {
      calls.push(start(never));
      await pass(10);
    }
    await pass(11);
    expect(calls.map(({ result }) => result)).toEqual(['timeout', null, null, null]);
    await pass(10);
    expect(calls.map(({ result }) => result)).toEqual(['timeout', 'timeout', null, null]);
    await pass(20);
    expect(calls.map(({ result }) => result)).toEqual(['timeout', 'timeout', 'timeout', 'timeout']);
  });

  test('of answered calls leaves no timer behind', async () => {
    for (let i = 0; i < 5_000; i += 1) void start(answers);
    await pass(1_000);
    expect(missed).toEqual([]);
    const late = start(never);
    await pass(51);
    expect(late.result).toBe('timeout');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('changes with the setting from the next call on', async () => {
    deadlineMs = 10;
    const call = start(never);
    await pass(11);
    expect(call.result).toBe('timeout');
  });

  test('drops an answer that comes after it, and the circuit still opens', async () => {
    const calls = Array.from({ length: 5 }, () => start(after(60)));
    await pass(70);
    expect(calls.map(({ result }) => result)).toEqual(Array(5).fill('timeout'));
    expect([guard.isOpen(), recoveries]).toEqual([true, 0]);
  });
});

describe('the circuit breaker', () => {
  test('opens after five failures in a row; an answer in between resets the count', async () => {
    for (let i = 0; i < 4; i += 1) expect(await guard.call(fails)).toBe('error');
    expect(await guard.call(answers)).toBe('answer');
    for (let i = 0; i < 4; i += 1) expect(await guard.call(fails)).toBe('error');
    expect(guard.isOpen()).toBe(false);
    expect(await guard.call(fails)).toBe('error');
    expect(guard.isOpen()).toBe(true);
    const send = vi.fn(answers);
    expect(guard.call(send)).toBe('open');
    expect(send).not.toHaveBeenCalled();
    expect(missed[0]).toEqual(['error', 'down']);
  });

  test('allows one trial call after each pause, and each pause is longer up to a maximum', async () => {
    await openCircuit();
    const pauses: number[] = [];
    for (let i = 0; i < 8; i += 1) {
      pauses.push(await pauseOf());
      const trial = start(never);
      expect(guard.isOpen()).toBe(true);
      expect(guard.call(answers)).toBe('open');
      await pass(51);
      expect(trial.result).toBe('timeout');
    }
    // The longest pause is short: a store that is up again is called within seconds.
    for (const [i, pauseMs] of pauses.entries()) expect(pauseMs).toBeGreaterThanOrEqual((pauses[i - 1] ?? 0) - 10);
    expect(pauses[2]).toBeGreaterThan(pauses[0]! * 1.5);
    expect(Math.abs(pauses[7]! - pauses[6]!)).toBeLessThanOrEqual(10);
    expect(pauses[7]).toBeLessThanOrEqual(2_010);
  });

  test('closes with the first answer, and allows all calls again', async () => {
    await openCircuit();
    const first = await pauseOf();
    expect(await guard.call(answers)).toBe('answer');
    expect([guard.isOpen(), recoveries]).toEqual([false, 1]);
    expect(await Promise.all([guard.call(answers), guard.call(answers)])).toEqual(['answer', 'answer']);
    expect(recoveries).toBe(1);
    // Five failures are needed again, and the first pause is short again.
    for (let i = 0; i < 4; i += 1) await guard.call(fails);
    expect(guard.isOpen()).toBe(false);
    await guard.call(fails);
    expect(await pauseOf()).toBe(first);
  });

  test('does not change the results of calls that began before it opened', async () => {
    const calls = Array.from({ length: 8 }, () => start(never));
    const slow = start(after(45));
    await pass(46);
    expect(slow.result).toBe('answer');
    await pass(10);
    expect(calls.every(({ result }) => result === 'timeout')).toBe(true);
    expect(guard.isOpen()).toBe(true);
  });
});
