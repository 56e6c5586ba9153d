import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { openLog } from '@tradepost/runtime';
import { openRedis, type RedisServer, redisIsInstalled } from '@tradepost/testing/servers/redis';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Admitted, Subject, Verdict } from '../limits.ts';
import { type CheckRequest, histories, noKeys, noLimits, openOracle, runs, shown, startMs } from '../testing/oracle.ts';
import { unlimitedAdmission } from '../verdict.ts';
import { limiterScripts } from './limiter-script.ts';
import { openRedisLimiter, type RedisLimiter } from './redis-limiter.ts';

/** The limiter on Redis, compared with the brute-force model. */
const hasRedis = redisIsInstalled('the tests of the limiter on Redis');
const log = openLog({ level: 'silent' });
const clock = { now: startMs };
let redis: RedisServer;
const limiters: RedisLimiter[] = [];
const results: string[] = [];

async function open(options: { windowMs?: number; clock?: 'argument'; prefix: string }): Promise<RedisLimiter> {
  const limiter = openRedisLimiter({
    urls: [redis.url],
    log,
    deadlineMs: () => 20_000,
    onStore: (result) => results.push(result),
    now: () => clock.now,
    ...options,
  });
  limiters.push(limiter);
  await limiter.ready();
  return limiter;
}
beforeAll(async () => {
  if (hasRedis) redis = await openRedis();
});
afterAll(async () => {
  await Promise.all(limiters.map((limiter) => limiter.close()));
  await redis?.close();
});

/** Separate keys for each run, on one connection. */
let runCount = 0;
const ownKeys = () => {
  runCount += 1;
  const own = runCount * 1_000;
  return ({ user, token, ip, model }: Subject): Subject => ({
    user: user === null ? null : own + user,
    token: token === null ? null : own + token,
    ip: ip === null ? null : `${ip} ${own}`,
    model: model === null ? null : `${model} ${own}`,
  });
};
const isLimited = ({ subject, limits }: CheckRequest) =>
  (['user', 'token', 'ip', 'model'] as const).some(
    (kind) => subject[kind] !== null && Object.entries(limits).some(([name, limit]) => name.startsWith(kind) && limit),
  );
/** A request without limits does not call the store, so its verdict has no time of the store. */
const comparable = (request: CheckRequest, verdict: Verdict): Verdict =>
  isLimited(request) ? verdict : unlimitedAdmission;

/** Thousands of steps are compared. `expect` takes longer than the step, so it only reports a difference. */
function expectEqual(actual: unknown, expected: unknown, where: () => string = () => ''): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, where()).toEqual(expected);
}

describe.skipIf(!hasRedis)('', () => {
  // The windows are long, because keys expire by the clock of the server, not by the clock of the test.
  describe.each([{ windowMs: 60_000 }, { windowMs: 12_345 }])('with a window of $windowMs ms', ({ windowMs }) => {
    let limiter: RedisLimiter;
    beforeAll(async () => {
      limiter = await open({ windowMs, clock: 'argument', prefix: `one${windowMs}:` });
    });
    const check = async ({ subject, limits, tokens }: CheckRequest) => {
      limiter.forgetRefusals();
      return limiter.check(subject, limits, tokens);
    };

    test('every verdict equals the verdict of the model, also when the clock goes back', async () => {
      await fc.assert(
        fc.asyncProperty(histories(windowMs, { goesBack: true, length: 80 }), async (steps) => {
          const oracle = openOracle(windowMs, 'newest');
          const own = ownKeys();
          clock.now = startMs;
          for (const [i, { move, ...step }] of steps.entries()) {
            clock.now += move;
            const request = { ...step, subject: own(step.subject) };
            const expected = comparable(request, oracle.check(request, clock.now));
            expectEqual(await check(request), expected, () => `step ${i} at ${clock.now - startMs}: ${shown(step)}`);
          }
        }),
        runs(120),
      );
      expect(new Set(results)).toEqual(new Set(['ok']));
    });

    test('long logs with many expired entries give the verdicts of the model', async () => {
      const oracle = openOracle(windowMs, 'newest');
      const own = ownKeys();
      clock.now = startMs;
      const limits = { ...noLimits, user_rpm: 130, user_tpm: 3_000, token_rpm: 90, ip_rpm: 300, model_tpm: 5_000 };
      const steps = fc.sample(
        fc.record({
          move: fc.constantFrom(0, 1, Math.ceil(windowMs / 300), Math.ceil(windowMs / 200), Math.ceil(windowMs / 60)),
          user: fc.constantFrom(1, 2),
          tokens: fc.constantFrom(0, 10, 20, 40, 200),
        }),
        { numRuns: 2_000, seed: 5 },
      );
      let refusals = 0;
      for (const [i, { move, user, tokens }] of steps.entries()) {
        clock.now += move;
        const subject = own({ user, token: user * 10, ip: '10.0.0', model: 'small' });
        const expected = oracle.check({ subject, limits, tokens }, clock.now);
        if (!expected.admitted) refusals += 1;
        expectEqual(await check({ subject, limits, tokens }), expected, () => `step ${i}`);
      }
      expect(refusals).toBeGreaterThan(100);
    });

    test('an undone charge does not count, whatever was charged after it', async () => {
      const limits = { ...noLimits, user_rpm: 12, user_tpm: 400 };
      const { source } = limiterScripts('argument').undoCharge;
      const step = fc.record({
        move: fc.constantFrom(0, 0, 1, Math.ceil(windowMs / 20), Math.ceil(windowMs / 3), windowMs - 1),
        tokens: fc.constantFrom(0, 1, 30, 90),
        undoes: fc.option(fc.nat(8), { freq: 2 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 40, size: 'max' }), async (steps) => {
          const { user } = ownKeys()({ ...noKeys, user: 1 });
          const key = `one${windowMs}:{u${user}}`;
          let list: { at: number; tokens: number }[] = [];
          clock.now = startMs;
          for (const { move, tokens, undoes } of steps) {
            clock.now += move;
            list = list.filter(({ at }) => at + windowMs > clock.now);
            const undone = undoes === null ? undefined : list[list.length - 1 - undoes];
            if (undone) {
              expectEqual(await redis.command('EVAL', source, 1, key, undone.at, undone.tokens), 1);
              list = list.filter((one) => one !== undone);
            } else {
              const used = list.reduce((sum, one) => sum + one.tokens, 0);
              const expected = list.length + 1 <= 12 && used + tokens <= 400;
              const verdict = await check({ subject: { ...noKeys, user }, limits, tokens });
              expectEqual(verdict.admitted, expected);
              if (expected) list.push({ at: clock.now, tokens });
              if (!verdict.admitted) {
                const admittedAt = clock.now + verdict.waitMs!;
                const fits = (when: number) => {
                  const left = list.filter(({ at }) => at + windowMs > when);
                  return left.length < 12 && left.reduce((sum, one) => sum + one.tokens, 0) + tokens <= 400;
                };
                expectEqual([fits(admittedAt - 1), fits(admittedAt)], [false, true]);
              }
            }
            const { requests, tokens: sum } = await limiter.inspect({ kind: 'user', key: String(user) });
            expectEqual([requests, sum], [list.length, list.reduce((total, one) => total + one.tokens, 0)]);
          }
        }),
        runs(40),
      );
    });

    test('requests of one event-loop iteration are decided in the order of their arrival', async () => {
      const iterations = fc.array(fc.tuple(histories(windowMs, { goesBack: false, length: 60 })), { maxLength: 8 });
      await fc.assert(
        fc.asyncProperty(iterations, async (batches) => {
          const oracle = openOracle(windowMs, 'newest');
          const own = ownKeys();
          clock.now = startMs;
          for (const [steps] of batches) {
            limiter.forgetRefusals();
            clock.now += steps[0]!.move;
            const requests = steps.map((step) => ({ ...step, subject: own(step.subject) }));
            const verdicts = await Promise.all(
              requests.map(({ subject, limits, tokens }) => limiter.check(subject, limits, tokens)),
            );
            for (const [i, one] of requests.entries())
              expectEqual(
                verdicts[i],
                comparable(one, oracle.check(one, clock.now)),
                () => `${i} of ${requests.length}: ${shown(steps[i]!)}`,
              );
          }
        }),
        runs(60),
      );
    });

    test('a request that waits exactly `waitMs` is admitted, one millisecond less is refused', async () => {
      await fc.assert(
        fc.asyncProperty(histories(windowMs, { goesBack: false, length: 50 }), async (steps) => {
          const own = ownKeys();
          clock.now = startMs;
          for (const { move, ...step } of steps) {
            clock.now += move;
            const request = { ...step, subject: own(step.subject) };
            const first = await check(request);
            if (first.admitted || first.waitMs === null) continue;
            const refusedAt = clock.now;
            clock.now = refusedAt + first.waitMs - 1;
            expect(await check(request)).toMatchObject({ admitted: false, waitMs: 1 });
            clock.now = refusedAt + first.waitMs;
            expect((await check(request)).admitted).toBe(true);
          }
        }),
        runs(60),
      );
    });

    test('inspect returns what was charged', async () => {
      await fc.assert(
        fc.asyncProperty(histories(windowMs, { goesBack: false, length: 40 }), async (steps) => {
          const oracle = openOracle(windowMs, 'newest');
          const own = ownKeys();
          clock.now = startMs;
          for (const { move, ...step } of steps) {
            clock.now += move;
            const request = { ...step, subject: own(step.subject) };
            await check(request);
            oracle.check(request, clock.now);
            for (const kind of ['user', 'token', 'ip', 'model'] as const) {
              const key = request.subject[kind];
              if (key === null) continue;
              const of =
                kind === 'token' ? { kind, key: String(key), user: request.subject.user! } : { kind, key: String(key) };
              const { requests, tokens } = await limiter.inspect(of);
              expectEqual({ requests, tokens }, oracle.usage(kind, key, clock.now));
            }
          }
        }),
        runs(20),
      );
    });
  });

  test('100,000 requests of one key: the limit is exact, and the string stays in proportion to the counting entries', async () => {
    const limiter = await open({ clock: 'argument', prefix: 'many:' });
    const limits = { ...noLimits, user_rpm: 100_000, user_tpm: 300_000 };
    const subject = { ...noKeys, user: 1 };
    const check = () => limiter.check(subject, limits, 3);
    const key = 'many:{u1}';
    clock.now = startMs;
    for (let i = 0; i < 12_500; i += 1) {
      clock.now += 1;
      const verdicts = await Promise.all([check(), check(), check(), check(), check(), check(), check(), check()]);
      if (!verdicts.every(({ admitted }) => admitted))
        throw new Error(`refused at ${i * 8}: ${JSON.stringify(verdicts)}`);
    }
    expect(await check()).toMatchObject({ admitted: false, waitMs: 47_501, denied: ['user_rpm', 'user_tpm'] });
    expect(await redis.command('STRLEN', key)).toBe(12_500 * 24 + 48);
    clock.now += 47_500;
    for (let i = 0; i < 1_000; i += 1) {
      limiter.forgetRefusals();
      if ((await check()).admitted) throw new Error('admitted before an entry has left the window');
      clock.now += 1;
      limiter.forgetRefusals();
      const verdicts = await Promise.all(Array.from({ length: 9 }, check));
      expectEqual(
        verdicts.map(({ admitted }) => admitted),
        [...Array(8).fill(true), false],
      );
    }
    // Expired entries are cut off before they are more than the counting ones.
    clock.now += 50_500;
    for (let i = 0; i < 500; i += 1) {
      clock.now += 2;
      limiter.forgetRefusals();
      expect((await check()).admitted).toBe(true);
      const entries = ((await redis.command('STRLEN', key)) - 48) / 24;
      // Entries from before the loop have eight requests each, entries of the loop one.
      const { requests } = await limiter.inspect({ kind: 'user', key: '1' });
      const counting = (requests - 1 - i) / 8 + i + 1;
      expect(entries).toBeLessThanOrEqual(Math.max(64, 2 * counting) + 2);
    }
    const life = await redis.command('PTTL', key);
    expect(life).toBeGreaterThan(60_000);
    expect(life).toBeLessThanOrEqual(180_000);
  });

  test('very many requests and tokens of one millisecond are all counted', async () => {
    const limiter = await open({ clock: 'argument', prefix: 'merge:' });
    const limits = { ...noLimits, user_rpm: 1_000, user_tpm: 2 ** 40 };
    clock.now = startMs;
    const costs = Array.from({ length: 1_000 }, (_, i) => [0, 1, 70_000, 2 ** 24 - 1, 2 ** 24, 2 ** 31 - 1][i % 6]!);
    const check = (cost: number) => limiter.check({ ...noKeys, user: 1 }, limits, cost);
    expect((await Promise.all(costs.map(check))).every(({ admitted }) => admitted)).toBe(true);
    const tokens = costs.reduce((a, b) => a + b);
    const all = { requests: 1_000, tokens, oldestLeavesMs: 60_000 };
    expect(await limiter.inspect({ kind: 'user', key: '1' })).toEqual(all);
    expect(await redis.command('STRLEN', 'merge:{u1}')).toBe(72);
    clock.now += 59_999;
    expect(await check(1)).toMatchObject({ admitted: false, dimension: 'user_rpm', waitMs: 1 });
    limiter.forgetRefusals();
    clock.now += 1;
    expect(await check(1)).toMatchObject({ admitted: true, tightest: { remaining: 999 } });
  });

  test('a key lives longer than its entries, also when the clock of the server goes back by nearly a window', async () => {
    const windowMs = 400;
    const shifted = await open({ windowMs, clock: 'argument', prefix: 'life:' });
    const limiter = await open({ windowMs, prefix: 'life:' });
    const limits = { ...noLimits, user_rpm: 3 };
    const check = (of = limiter) => of.check({ ...noKeys, user: 1 }, limits, 1);
    const began = Date.now();
    // This limiter has the time from before the clock went back.
    clock.now = began + 360;
    expect((await check(shifted)).admitted).toBe(true);
    await sleep(began + 740 - Date.now());
    const second = await check();
    expect(second.admitted).toBe(true);
    await sleep(began + 830 - Date.now());
    // The entry of 740 ms still counts, unless this machine paused.
    if (Date.now() > began + 1_000) return;
    const left = (await check()) as Admitted;
    expect(left.tightest!.remaining).toBe(second.at + windowMs > left.at ? 1 : 2);
  });

  test('a value that is not a log is overwritten, and the other keys of the same call stay limited', async () => {
    const limiter = await open({ prefix: 'garbage:' });
    results.length = 0;
    const limits = { ...noLimits, user_rpm: 2 };
    const users = [1, 2, 3, 4, 5, 6];
    await redis.command('HSET', 'garbage:{u2}', 'a', 'b');
    await redis.command('SADD', 'garbage:{u3}', 'a');
    await redis.command('SET', 'garbage:{u4}', 'short');
    await redis.command('SET', 'garbage:{u5}', 'x'.repeat(500));
    for (const admitted of [true, true, false]) {
      const verdicts = await Promise.all(users.map((user) => limiter.check({ ...noKeys, user }, limits, 1)));
      expect(verdicts.map((verdict) => verdict.admitted)).toEqual(users.map(() => admitted));
    }
    expect(new Set(results)).toEqual(new Set(['ok']));
  });
});
