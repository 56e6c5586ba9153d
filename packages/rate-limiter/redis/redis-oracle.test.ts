import { setTimeout as sleep } from 'node:timers/promises';
import { openLog } from '@tradepost/runtime';
import { openRedis, type RedisServer, redisIsInstalled } from '@tradepost/testing/servers/redis';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Admitted, Subject, Verdict } from '../limits.ts';
import { type Asked, histories, nobody, noLimits, openOracle, runs, shown, startMs } from '../testing/oracle.ts';
import { limiterScripts } from './limiter-script.ts';
import { openRedisLimiter, type RedisLimiter } from './redis-limiter.ts';

/** The limiter on Redis against lists that are looked through from end to end. */
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

/** Keys of its own for each run, on one connection. */
let turn = 0;
const ownKeys = () => {
  turn += 1;
  const own = turn * 1_000;
  return ({ user, token, ip, model }: Subject): Subject => ({
    user: user === null ? null : own + user,
    token: token === null ? null : own + token,
    ip: ip === null ? null : `${ip} ${own}`,
    model: model === null ? null : `${model} ${own}`,
  });
};
const isLimited = ({ subject, limits }: Asked) =>
  (['user', 'token', 'ip', 'model'] as const).some(
    (kind) => subject[kind] !== null && Object.entries(limits).some(([name, limit]) => name.startsWith(kind) && limit),
  );
/** What is not limited never asks the store, and has no time of it. */
const comparable = (asked: Asked, verdict: Verdict): Verdict =>
  isLimited(asked) ? verdict : { admitted: true, tightest: null, at: 0 };

describe.skipIf(!hasRedis)('', () => {
  // Not shorter: keys end by the server's own clock, which does not jump with the test's.
  describe.each([{ windowMs: 60_000 }, { windowMs: 12_345 }])('with a window of $windowMs ms', ({ windowMs }) => {
    let limiter: RedisLimiter;
    beforeAll(async () => {
      limiter = await open({ windowMs, clock: 'argument', prefix: `one${windowMs}:` });
    });
    const ask = async ({ subject, limits, tokens }: Asked) => {
      limiter.forgetRefusals();
      return limiter.check(subject, limits, tokens);
    };

    test('every answer is the one that the whole history gives, whatever the clock does', async () => {
      await fc.assert(
        fc.asyncProperty(histories(windowMs, { goesBack: true, length: 80 }), async (steps) => {
          const oracle = openOracle(windowMs, 'newest');
          const own = ownKeys();
          clock.now = startMs;
          for (const [i, { move, ...step }] of steps.entries()) {
            clock.now += move;
            const asked = { ...step, subject: own(step.subject) };
            const expected = comparable(asked, oracle.check(asked, clock.now));
            expect(await ask(asked), `step ${i} at ${clock.now - startMs}: ${shown(step)}`).toEqual(expected);
          }
        }),
        runs(120),
      );
      expect(new Set(results)).toEqual(new Set(['ok']));
    });

    test('long logs, of which much has left, answer as the history does', async () => {
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
        expect(await ask({ subject, limits, tokens }), `step ${i}`).toEqual(expected);
      }
      expect(refusals).toBeGreaterThan(100);
    });

    test('a charge that is taken back was never there, whatever came after it', async () => {
      const limits = { ...noLimits, user_rpm: 12, user_tpm: 400 };
      const { source } = limiterScripts('argument').takeBack;
      const step = fc.record({
        move: fc.constantFrom(0, 0, 1, Math.ceil(windowMs / 20), Math.ceil(windowMs / 3), windowMs - 1),
        tokens: fc.constantFrom(0, 1, 30, 90),
        takes: fc.option(fc.nat(8), { freq: 2 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 40, size: 'max' }), async (steps) => {
          const { user } = ownKeys()({ ...nobody, user: 1 });
          const key = `one${windowMs}:{u${user}}`;
          let list: { at: number; tokens: number }[] = [];
          clock.now = startMs;
          for (const { move, tokens, takes } of steps) {
            clock.now += move;
            list = list.filter(({ at }) => at + windowMs > clock.now);
            const taken = takes === null ? undefined : list[list.length - 1 - takes];
            if (taken) {
              expect(await redis.command('EVAL', source, 1, key, taken.at, taken.tokens)).toBe(1);
              list = list.filter((one) => one !== taken);
            } else {
              const used = list.reduce((sum, one) => sum + one.tokens, 0);
              const expected = list.length + 1 <= 12 && used + tokens <= 400;
              const verdict = await ask({ subject: { ...nobody, user }, limits, tokens });
              expect(verdict.admitted).toBe(expected);
              if (expected) list.push({ at: clock.now, tokens });
              if (!verdict.admitted) {
                const told = clock.now + verdict.waitMs!;
                const fits = (when: number) => {
                  const left = list.filter(({ at }) => at + windowMs > when);
                  return left.length < 12 && left.reduce((sum, one) => sum + one.tokens, 0) + tokens <= 400;
                };
                expect([fits(told - 1), fits(told)]).toEqual([false, true]);
              }
            }
            const { requests, tokens: sum } = await limiter.inspect({ kind: 'user', key: String(user) });
            expect([requests, sum]).toEqual([list.length, list.reduce((total, one) => total + one.tokens, 0)]);
          }
        }),
        runs(40),
      );
    });

    test('requests that come in one turn are taken in the order of their arrival', async () => {
      const turns = fc.array(fc.tuple(histories(windowMs, { goesBack: false, length: 60 })), { maxLength: 8 });
      await fc.assert(
        fc.asyncProperty(turns, async (batches) => {
          const oracle = openOracle(windowMs, 'newest');
          const own = ownKeys();
          clock.now = startMs;
          for (const [steps] of batches) {
            limiter.forgetRefusals();
            clock.now += steps[0]!.move;
            const asked = steps.map((step) => ({ ...step, subject: own(step.subject) }));
            const verdicts = await Promise.all(
              asked.map(({ subject, limits, tokens }) => limiter.check(subject, limits, tokens)),
            );
            for (const [i, one] of asked.entries())
              expect(verdicts[i], `${i} of ${asked.length}: ${shown(steps[i]!)}`).toEqual(
                comparable(one, oracle.check(one, clock.now)),
              );
          }
        }),
        runs(60),
      );
    });

    test('whoever waits exactly as long as told is admitted, a millisecond sooner is not', async () => {
      await fc.assert(
        fc.asyncProperty(histories(windowMs, { goesBack: false, length: 50 }), async (steps) => {
          const own = ownKeys();
          clock.now = startMs;
          for (const { move, ...step } of steps) {
            clock.now += move;
            const asked = { ...step, subject: own(step.subject) };
            const first = await ask(asked);
            if (first.admitted || first.waitMs === null) continue;
            const told = clock.now;
            clock.now = told + first.waitMs - 1;
            expect(await ask(asked)).toMatchObject({ admitted: false, waitMs: 1 });
            clock.now = told + first.waitMs;
            expect((await ask(asked)).admitted).toBe(true);
          }
        }),
        runs(60),
      );
    });

    test('what is looked at is what was charged', async () => {
      await fc.assert(
        fc.asyncProperty(histories(windowMs, { goesBack: false, length: 40 }), async (steps) => {
          const oracle = openOracle(windowMs, 'newest');
          const own = ownKeys();
          clock.now = startMs;
          for (const { move, ...step } of steps) {
            clock.now += move;
            const asked = { ...step, subject: own(step.subject) };
            await ask(asked);
            oracle.check(asked, clock.now);
            for (const kind of ['user', 'token', 'ip', 'model'] as const) {
              const key = asked.subject[kind];
              if (key === null) continue;
              const of =
                kind === 'token' ? { kind, key: String(key), user: asked.subject.user! } : { kind, key: String(key) };
              const { requests, tokens } = await limiter.inspect(of);
              expect({ requests, tokens }).toEqual(oracle.usage(kind, key, clock.now));
            }
          }
        }),
        runs(20),
      );
    });
  });

  test('100,000 requests of one key: exact to the request, and the string stays in proportion to what counts', async () => {
    const limiter = await open({ clock: 'argument', prefix: 'many:' });
    const limits = { ...noLimits, user_rpm: 100_000, user_tpm: 300_000 };
    const subject = { ...nobody, user: 1 };
    const ask = () => limiter.check(subject, limits, 3);
    const key = 'many:{u1}';
    clock.now = startMs;
    for (let i = 0; i < 12_500; i += 1) {
      clock.now += 1;
      const verdicts = await Promise.all([ask(), ask(), ask(), ask(), ask(), ask(), ask(), ask()]);
      if (!verdicts.every(({ admitted }) => admitted))
        throw new Error(`refused at ${i * 8}: ${JSON.stringify(verdicts)}`);
    }
    expect(await ask()).toMatchObject({ admitted: false, waitMs: 47_501, denied: ['user_rpm', 'user_tpm'] });
    expect(await redis.command('STRLEN', key)).toBe(12_500 * 24 + 48);
    clock.now += 47_500;
    for (let i = 0; i < 1_000; i += 1) {
      limiter.forgetRefusals();
      if ((await ask()).admitted) throw new Error('admitted before anything has left');
      clock.now += 1;
      limiter.forgetRefusals();
      const verdicts = await Promise.all(Array.from({ length: 9 }, ask));
      expect(verdicts.map(({ admitted }) => admitted)).toEqual([...Array(8).fill(true), false]);
    }
    // What has left is cleared away before it is more than what counts.
    clock.now += 50_500;
    for (let i = 0; i < 500; i += 1) {
      clock.now += 2;
      limiter.forgetRefusals();
      expect((await ask()).admitted).toBe(true);
      const entries = ((await redis.command('STRLEN', key)) - 48) / 24;
      // Those of before had eight requests each, those of the loop one.
      const { requests } = await limiter.inspect({ kind: 'user', key: '1' });
      const counting = (requests - 1 - i) / 8 + i + 1;
      expect(entries).toBeLessThanOrEqual(Math.max(64, 2 * counting) + 2);
    }
    const life = await redis.command('PTTL', key);
    expect(life).toBeGreaterThan(60_000);
    expect(life).toBeLessThanOrEqual(180_000);
  });

  test('more requests and tokens in one millisecond than any number of bits holds are all counted', async () => {
    const limiter = await open({ clock: 'argument', prefix: 'merge:' });
    const limits = { ...noLimits, user_rpm: 1_000, user_tpm: 2 ** 40 };
    clock.now = startMs;
    const costs = Array.from({ length: 1_000 }, (_, i) => [0, 1, 70_000, 2 ** 24 - 1, 2 ** 24, 2 ** 31 - 1][i % 6]!);
    const ask = (cost: number) => limiter.check({ ...nobody, user: 1 }, limits, cost);
    expect((await Promise.all(costs.map(ask))).every(({ admitted }) => admitted)).toBe(true);
    const tokens = costs.reduce((a, b) => a + b);
    const all = { requests: 1_000, tokens, oldestLeavesMs: 60_000 };
    expect(await limiter.inspect({ kind: 'user', key: '1' })).toEqual(all);
    expect(await redis.command('STRLEN', 'merge:{u1}')).toBe(72);
    clock.now += 59_999;
    expect(await ask(1)).toMatchObject({ admitted: false, dimension: 'user_rpm', waitMs: 1 });
    limiter.forgetRefusals();
    clock.now += 1;
    expect(await ask(1)).toMatchObject({ admitted: true, tightest: { remaining: 999 } });
  });

  test('a log outlives its entries, also when the server’s clock has gone back by nearly a window', async () => {
    const windowMs = 400;
    const shifted = await open({ windowMs, clock: 'argument', prefix: 'life:' });
    const limiter = await open({ windowMs, prefix: 'life:' });
    const limits = { ...noLimits, user_rpm: 3 };
    const ask = (of = limiter) => of.check({ ...nobody, user: 1 }, limits, 1);
    const began = Date.now();
    // As before the clock went back.
    clock.now = began + 360;
    expect((await ask(shifted)).admitted).toBe(true);
    await sleep(began + 740 - Date.now());
    const second = await ask();
    expect(second.admitted).toBe(true);
    await sleep(began + 830 - Date.now());
    // What came at 740 still counts, unless this machine stood still.
    if (Date.now() > began + 1_000) return;
    const left = (await ask()) as Admitted;
    expect(left.tightest!.remaining).toBe(second.at + windowMs > left.at ? 1 : 2);
  });

  test('what is no log under the key of one is written over, and no other key of the same call is let through', async () => {
    const limiter = await open({ prefix: 'garbage:' });
    results.length = 0;
    const limits = { ...noLimits, user_rpm: 2 };
    const users = [1, 2, 3, 4, 5, 6];
    await redis.command('HSET', 'garbage:{u2}', 'a', 'b');
    await redis.command('SADD', 'garbage:{u3}', 'a');
    await redis.command('SET', 'garbage:{u4}', 'short');
    await redis.command('SET', 'garbage:{u5}', 'x'.repeat(500));
    for (const admitted of [true, true, false]) {
      const verdicts = await Promise.all(users.map((user) => limiter.check({ ...nobody, user }, limits, 1)));
      expect(verdicts.map((verdict) => verdict.admitted)).toEqual(users.map(() => admitted));
    }
    expect(new Set(results)).toEqual(new Set(['ok']));
  });
});
