import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import type { Limits } from '../limits.ts';
import { type CheckRequest, histories, noKeys, noLimits, openOracle, runs, shown, startMs } from '../testing/oracle.ts';
import { type EmbeddedLimiter, openEmbeddedLimiter } from './embedded-limiter.ts';

/** The verdicts and waits of the limiter in process, compared with the brute-force model. */
const opened: EmbeddedLimiter[] = [];
afterEach(() => Promise.all(opened.splice(0).map((limiter) => limiter.close())));
function open(options: { windowMs?: number; memoryMb?: number } = {}) {
  const clock = { now: startMs };
  const limiter = openEmbeddedLimiter({ memoryMb: 4, ...options, now: () => clock.now });
  opened.push(limiter);
  return { limiter, clock };
}
const closeLast = () => void opened.pop()!.close();

test.each([{ windowMs: 60_000 }, { windowMs: 65_535 }, { windowMs: 1_000 }, { windowMs: 7 }, { windowMs: 1 }])(
  'every verdict equals the verdict of the model, also when the clock goes back: window of $windowMs ms',
  ({ windowMs }) => {
    fc.assert(
      fc.property(histories(windowMs, { goesBack: true, length: 80 }), (steps) => {
        const { limiter, clock } = open({ windowMs });
        const oracle = openOracle(windowMs, 'own');
        for (const [i, { move, ...request }] of steps.entries()) {
          clock.now += move;
          const verdict = limiter.check(request.subject, request.limits, request.tokens);
          expect(verdict, `step ${i} at ${clock.now - startMs}: ${shown(request)}`).toEqual(
            oracle.check(request, clock.now),
          );
        }
        closeLast();
      }),
      runs(300),
    );
  },
);

test('a request that waits exactly `waitMs` is admitted, one millisecond less is refused', () => {
  const windowMs = 60_000;
  fc.assert(
    fc.property(histories(windowMs, { goesBack: false, length: 60 }), (steps) => {
      const { limiter, clock } = open({ windowMs });
      for (const { move, subject, limits, tokens } of steps) {
        clock.now += move;
        const first = limiter.check(subject, limits, tokens);
        if (first.admitted || first.waitMs === null) continue;
        const refusedAt = clock.now;
        clock.now = refusedAt + first.waitMs - 1;
        expect(limiter.check(subject, limits, tokens)).toMatchObject({ admitted: false, waitMs: 1 });
        clock.now = refusedAt + first.waitMs;
        expect(limiter.check(subject, limits, tokens).admitted).toBe(true);
      }
      closeLast();
    }),
    runs(200),
  );
});

test('a refused request charges no key', async () => {
  const { limiter } = open();
  const limits = { ...noLimits, user_rpm: 5, token_rpm: 9, ip_rpm: 2, model_tpm: 1_000 };
  const subject = { user: 1, token: 11, ip: '10.0.0', model: 'small' };
  for (const admitted of [true, true, false, false]) expect(limiter.check(subject, limits, 7).admitted).toBe(admitted);
  expect(await limiter.inspect({ kind: 'user', key: '1' })).toMatchObject({ requests: 2, tokens: 14 });
  expect(await limiter.inspect({ kind: 'token', key: '11', user: 1 })).toMatchObject({ requests: 2, tokens: 14 });
  expect(await limiter.inspect({ kind: 'model', key: 'small' })).toMatchObject({ requests: 2, tokens: 14 });
});

test('a request that costs more than a limit is refused without a wait', () => {
  const { limiter } = open();
  const limits = { ...noLimits, user_rpm: 1, user_tpm: 100, model_tpm: 50 };
  expect(limiter.check({ ...noKeys, user: 1, model: 'small' }, limits, 51)).toEqual({
    ...{ admitted: false, dimension: 'model_tpm', limit: 50, waitMs: null, denied: ['model_tpm'], at: startMs },
  });
  expect(limiter.check({ ...noKeys, user: 1, model: 'small' }, limits, 50).admitted).toBe(true);
});

test('peek charges nothing, and refuses only requests that a check of any cost refuses', () => {
  fc.assert(
    fc.property(histories(1_000, { goesBack: false, length: 60 }), (steps) => {
      const { limiter, clock } = open({ windowMs: 1_000 });
      const oracle = openOracle(1_000, 'own');
      for (const { move, ...request } of steps) {
        clock.now += move;
        const peeked = limiter.peek(request.subject, request.limits);
        const expected = oracle.check(request, clock.now);
        if (peeked) expect(expected.admitted).toBe(false);
        expect(limiter.check(request.subject, request.limits, request.tokens)).toEqual(expected);
        if (!expected.admitted && expected.denied.some((dimension) => dimension.endsWith('rpm')))
          expect(peeked).not.toBeNull();
      }
      closeLast();
    }),
    runs(100),
  );
});

test('requests and tokens of one millisecond that exceed an entry are all counted', async () => {
  const { limiter, clock } = open();
  const limits = { ...noLimits, user_rpm: 1_000, user_tpm: 2 ** 40 };
  const check = (tokens: number) => limiter.check({ ...noKeys, user: 1 }, limits, tokens);
  const costs = Array.from({ length: 1_000 }, (_, i) => [0, 1, 70_000, 2 ** 24 - 1, 2 ** 24, 2 ** 31 - 1][i % 6]!);
  for (const cost of costs) expect(check(cost).admitted).toBe(true);
  const tokens = costs.reduce((a, b) => a + b);
  expect(await limiter.inspect({ kind: 'user', key: '1' })).toEqual({
    requests: 1_000,
    tokens,
    oldestLeavesMs: 60_000,
  });
  clock.now += 59_999;
  expect(check(1)).toMatchObject({ admitted: false, dimension: 'user_rpm', waitMs: 1 });
  clock.now += 1;
  expect(check(1)).toMatchObject({ admitted: true, tightest: { limit: 1_000, remaining: 999 } });
});

test('100,000 requests of one key: the limit is exact to the request, and the window to the millisecond', () => {
  const { limiter, clock } = open({ memoryMb: 8 });
  const limits = { ...noLimits, user_rpm: 100_000, user_tpm: 300_000 };
  const check = () => limiter.check({ ...noKeys, user: 1 }, limits, 3);
  for (let i = 0; i < 100_000; i += 1) {
    if (i % 2 === 0 && i > 0) clock.now += 1;
    if (!check().admitted) throw new Error(`request ${i + 1} was refused`);
  }
  // 50,000 milliseconds with two requests each.
  expect(check()).toMatchObject({ admitted: false, waitMs: 10_001, denied: ['user_rpm', 'user_tpm'] });
  clock.now += 10_000;
  for (let i = 0; i < 5_000; i += 1) {
    if (check().admitted) throw new Error('admitted before an entry has left the window');
    clock.now += 1;
    if (!check().admitted || !check().admitted) throw new Error('refused although two entries have left the window');
  }
  expect(limiter.evicted).toBe(0);
});

const rpm = (limit: number): Limits => ({ ...noLimits, user_rpm: limit, ip_rpm: limit, model_tpm: limit * 10 });

test('when memory is full, the keys charged the longest ago are dropped; all others stay exact', async () => {
  const { limiter, clock } = open({ memoryMb: 1 });
  const charged = new Map<number, number>();
  let evicted = 0;
  let random = 1;
  const next = (below: number) => {
    random = (random * 48_271) % 2_147_483_647;
    return random % below;
  };
  for (let i = 0; i < 60_000; i += 1) {
    if (i % 4 === 0) clock.now += 1;
    // A third of the requests repeat 500 users, the others occur once.
    const user = next(3) === 0 ? next(500) : 1_000 + i;
    const before = charged.get(user) ?? 0;
    const verdict = limiter.check({ ...noKeys, user }, rpm(100), 5);
    if (verdict.admitted !== before < 100) throw new Error(`user ${user} after ${before}: ${JSON.stringify(verdict)}`);
    if (!verdict.admitted) continue;
    charged.delete(user);
    charged.set(user, before + 1);
    for (const oldest of charged.keys()) {
      if (evicted === limiter.evicted) break;
      charged.delete(oldest);
      evicted += 1;
    }
  }
  expect(evicted).toBeGreaterThan(10_000);
  expect(limiter.keys).toBe(charged.size);
  for (const [user, requests] of charged)
    expect(await limiter.inspect({ kind: 'user', key: String(user) })).toMatchObject({
      requests,
      tokens: requests * 5,
    });
  expect((await limiter.inspect({ kind: 'user', key: '1001' })).requests).toBe(0);
});

test('names have their own bound: new addresses do not evict users', async () => {
  const { limiter, clock } = open({ memoryMb: 1 });
  for (let user = 1; user <= 1_000; user += 1) limiter.check({ ...noKeys, user }, rpm(5), 1);
  for (let i = 0; i < 20_000; i += 1) {
    if (i % 10 === 0) clock.now += 1;
    limiter.check({ ...noKeys, ip: `2001:db8::${i.toString(16)}` }, rpm(5), 1);
  }
  expect(limiter.evicted).toBeGreaterThan(15_000);
  for (const user of [1, 500, 1_000])
    expect(await limiter.inspect({ kind: 'user', key: String(user) })).toMatchObject({ requests: 1 });
  // The newest names are kept.
  for (let i = 19_999; i > 19_600; i -= 1)
    expect(await limiter.inspect({ kind: 'ip', key: `2001:db8::${i.toString(16)}` })).toMatchObject({ requests: 1 });
});

test('a key that needs more than the memory loses its oldest entries, and other keys stay exact', async () => {
  const { limiter, clock } = open({ memoryMb: 1 });
  const huge: Limits = { ...noLimits, user_rpm: 1e12, user_tpm: 1e15, ip_rpm: 3 };
  const of = { kind: 'user', key: '1' } as const;
  for (let i = 0; i < 20_000; i += 1) {
    clock.now += 1;
    if (!limiter.check({ ...noKeys, user: 1 }, huge, 2 ** 31 - 1).admitted) throw new Error('refused');
  }
  expect(limiter.evicted).toBeGreaterThan(1_000);
  const full = await limiter.inspect(of);
  expect(full.requests).toBeGreaterThan(100);
  expect(full.requests).toBeLessThan(20_000);
  // The newest entries are complete: each request that remains has its tokens.
  expect(Math.abs(full.tokens - full.requests * (2 ** 31 - 1))).toBeLessThan(2 ** 31);
  for (const admitted of [true, true, true, false])
    expect(limiter.check({ ...noKeys, ip: '10.0.0' }, huge, 0).admitted).toBe(admitted);
  let { requests, tokens } = full;
  for (clock.now += 60_000 - full.requests - 5; tokens > 0; clock.now += 1) {
    const left = await limiter.inspect(of);
    expect(left.requests).toBeLessThanOrEqual(requests);
    expect(left.tokens).toBeLessThanOrEqual(tokens);
    expect(left.tokens).toBeGreaterThanOrEqual(0);
    ({ requests, tokens } = left);
  }
  expect([requests, tokens]).toEqual([0, 0]);
  // All memory is free again: the largest number of keys fits.
  clock.now += 60_000;
  const before = limiter.evicted;
  for (let user = 2; user < 4_200; user += 1) limiter.check({ ...noKeys, user }, rpm(5), 1);
  expect(limiter.evicted).toBe(before);
  for (const user of [2, 2_000, 4_199])
    expect(await limiter.inspect({ kind: 'user', key: String(user) })).toMatchObject({ requests: 1, tokens: 1 });
});

test('when keys are dropped during a check, no request is refused without reason', () => {
  const { limiter, clock } = open({ memoryMb: 1 });
  const limits: Limits = { ...noLimits, user_rpm: 40, token_rpm: 30, ip_rpm: 60, model_rpm: 50, model_tpm: 2 ** 33 };
  const admitted = new Map<string, { at: number; tokens: number }[]>();
  let random = 7;
  const next = (below: number) => {
    random = (random * 48_271) % 2_147_483_647;
    return random % below;
  };
  let refusals = 0;
  for (let i = 0; i < 30_000; i += 1) {
    clock.now += next(8) === 0 ? 1 + next(40) : 0;
    const user = next(2) === 0 ? 1 + next(20) : 1 + next(3_000);
    const subject = { user, token: user, ip: `10.0.${next(600)}`, model: `m${next(next(2) === 0 ? 5 : 500)}` };
    const tokens = [0, 100, 2 ** 24, 2 ** 27][next(4)]!;
    const kept = Object.entries(subject).map(([kind, key]) => {
      const name = `${kind} ${key}`;
      const list = (admitted.get(name) ?? []).filter(({ at }) => at + 60_000 > clock.now);
      admitted.set(name, list);
      return { kind, list };
    });
    const verdict = limiter.check(subject, limits, tokens);
    if (verdict.admitted) {
      for (const { list } of kept) list.push({ at: clock.now, tokens });
      continue;
    }
    refusals += 1;
    for (const dimension of verdict.denied) {
      const { list } = kept.find(({ kind }) => dimension.startsWith(kind))!;
      const used = dimension.endsWith('rpm') ? list.length + 1 : list.reduce((sum, one) => sum + one.tokens, tokens);
      if (used <= limits[dimension]) throw new Error(`step ${i}: ${JSON.stringify(verdict)} at ${used}`);
    }
  }
  expect(refusals).toBeGreaterThan(1_000);
  expect(limiter.evicted).toBeGreaterThan(1_000);
});

test('reset empties one log and keeps the others', async () => {
  const { limiter } = open();
  const limits = { ...noLimits, user_rpm: 1, token_rpm: 1, ip_rpm: 1, model_rpm: 1 };
  const subject = { user: 1, token: 1, ip: 'a', model: 'a' };
  const check = (of: Partial<CheckRequest['subject']>) => limiter.check({ ...noKeys, ...of }, limits, 1).admitted;
  expect(check(subject)).toBe(true);
  expect(await limiter.reset({ kind: 'user', key: '1' })).toBe(1);
  expect(await limiter.reset({ kind: 'user', key: '1' })).toBe(0);
  expect([check({ user: 1 }), check({ token: 1 }), check({ ip: 'a' }), check({ model: 'a' })]).toEqual([
    ...[true, false, false, false],
  ]);
  expect(await limiter.reset()).toBe(4);
  expect(limiter.keys).toBe(0);
  expect(check(subject)).toBe(true);
});
