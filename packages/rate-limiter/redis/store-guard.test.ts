import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Missed, openStoreGuard, type StoreGuard } from './store-guard.ts';

/** How long a request waits for a store, and when it does not even try. The clock moves as the test says. */
let deadlineMs: number;
let missed: (readonly [string, string | undefined])[];
let backs: number;
let guard: StoreGuard;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'] });
  deadlineMs = 50;
  missed = [];
  backs = 0;
  guard = openStoreGuard({
    deadlineMs: () => deadlineMs,
    onMiss: (why, error) => missed.push([why, (error as Error | undefined)?.message]),
    onBack: () => {
      backs += 1;
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
/** What a call has come to so far. */
function asked(send: () => Promise<string>): { result: string | null } {
  const call: { result: string | Missed | null } = { result: null };
  const answer = guard.ask(send);
  if (typeof answer === 'string') call.result = answer;
  else
    void answer.then((result) => {
      call.result = result;
    });
  return call;
}
/** How long it does not ask. */
async function rested(): Promise<number> {
  let ms = 0;
  for (; guard.rests(); ms += 10) await pass(10);
  return ms;
}
async function open() {
  for (let i = 0; i < 5; i += 1) await guard.ask(fails);
}

describe('the deadline', () => {
  test('is kept to the millisecond, and an answer within it is taken', async () => {
    const calls = [asked(never), asked(after(49)), asked(answers)];
    await pass(49);
    expect(calls).toEqual([{ result: null }, { result: 'answer' }, { result: 'answer' }]);
    await pass(2);
    expect(calls[0]).toEqual({ result: 'timeout' });
    expect(missed).toEqual([['timeout', undefined]]);
  });

  test('is each call’s own, though one timer serves all', async () => {
    const calls: ReturnType<typeof asked>[] = [];
    for (let i = 0; i < 4; i += 1) {
      calls.push(asked(never));
      await pass(10);
    }
    await pass(11);
    expect(calls.map(({ result }) => result)).toEqual(['timeout', null, null, null]);
    await pass(10);
    expect(calls.map(({ result }) => result)).toEqual(['timeout', 'timeout', null, null]);
    await pass(20);
    expect(calls.map(({ result }) => result)).toEqual(['timeout', 'timeout', 'timeout', 'timeout']);
  });

  test('many calls that were answered leave nothing behind that would wake up', async () => {
    for (let i = 0; i < 5_000; i += 1) void asked(answers);
    await pass(1_000);
    expect(missed).toEqual([]);
    const late = asked(never);
    await pass(51);
    expect(late.result).toBe('timeout');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a changed setting counts for the next call', async () => {
    deadlineMs = 10;
    const call = asked(never);
    await pass(11);
    expect(call.result).toBe('timeout');
  });

  test('an answer that comes after it is dropped, and is no sign of life', async () => {
    const calls = Array.from({ length: 5 }, () => asked(after(60)));
    await pass(70);
    expect(calls.map(({ result }) => result)).toEqual(Array(5).fill('timeout'));
    expect([guard.rests(), backs]).toEqual([true, 0]);
  });
});

describe('the breaker', () => {
  test('opens after five misses in a row, not by fewer, and an answer in between begins anew', async () => {
    for (let i = 0; i < 4; i += 1) expect(await guard.ask(fails)).toBe('error');
    expect(await guard.ask(answers)).toBe('answer');
    for (let i = 0; i < 4; i += 1) expect(await guard.ask(fails)).toBe('error');
    expect(guard.rests()).toBe(false);
    expect(await guard.ask(fails)).toBe('error');
    expect(guard.rests()).toBe(true);
    const send = vi.fn(answers);
    expect(guard.ask(send)).toBe('open');
    expect(send).not.toHaveBeenCalled();
    expect(missed[0]).toEqual(['error', 'down']);
  });

  test('lets one call through after each rest, each longer than the last, and no other beside it', async () => {
    await open();
    const rests: number[] = [];
    for (let i = 0; i < 8; i += 1) {
      rests.push(await rested());
      const probe = asked(never);
      expect(guard.rests()).toBe(true);
      expect(guard.ask(answers)).toBe('open');
      await pass(51);
      expect(probe.result).toBe('timeout');
    }
    // Up to a longest one that nobody notices: the store that is back is asked again within seconds.
    for (const [i, rest] of rests.entries()) expect(rest).toBeGreaterThanOrEqual((rests[i - 1] ?? 0) - 10);
    expect(rests[2]).toBeGreaterThan(rests[0]! * 1.5);
    expect(Math.abs(rests[7]! - rests[6]!)).toBeLessThanOrEqual(10);
    expect(rests[7]).toBeLessThanOrEqual(2_010);
  });

  test('closes with the first answer, and then asks for all again', async () => {
    await open();
    const first = await rested();
    expect(await guard.ask(answers)).toBe('answer');
    expect([guard.rests(), backs]).toEqual([false, 1]);
    expect(await Promise.all([guard.ask(answers), guard.ask(answers)])).toEqual(['answer', 'answer']);
    expect(backs).toBe(1);
    // It takes five again, and the first rest is short again.
    for (let i = 0; i < 4; i += 1) await guard.ask(fails);
    expect(guard.rests()).toBe(false);
    await guard.ask(fails);
    expect(await rested()).toBe(first);
  });

  test('calls that were on their way when it opened still count what they come to', async () => {
    const calls = Array.from({ length: 8 }, () => asked(never));
    const slow = asked(after(45));
    await pass(46);
    expect(slow.result).toBe('answer');
    await pass(10);
    expect(calls.every(({ result }) => result === 'timeout')).toBe(true);
    expect(guard.rests()).toBe(true);
  });
});
