import { openRedis, type RedisServer, redisIsInstalled } from '@tradepost/testing/servers/redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dimensions, type Limits } from '../limits.ts';
import { type Asking, openLedger, runProcesses } from '../testing/ledger.ts';

/** Four gateway processes on one Redis: together they admit what one would, and refuse nothing that one would not. */
const hasRedis = redisIsInstalled('the tests of several limiter processes');
let redis: RedisServer;
beforeAll(async () => {
  if (hasRedis) redis = await openRedis();
});
afterAll(() => redis?.close());

const windowMs = 400;
/** No dimension is without refusals of its own. */
const limits: Limits = {
  ...{ user_rpm: 45, user_tpm: 800, token_rpm: 26, token_tpm: 450, ip_rpm: 55 },
  ...{ model_rpm: 52, model_tpm: 900 },
};
const keysOf = (askings: readonly Asking[]) =>
  new Set(askings.flatMap(({ verdict }) => (verdict?.admitted === false ? verdict.denied : [])));

describe.skipIf(!hasRedis)('', () => {
  test.each([
    { title: 'all live', options: {} },
    { title: 'one is killed in the middle', options: { killOneAfterMs: 800 } },
  ])(
    'no window holds more than its limit, and nobody is refused without reason: $title',
    async ({ title, options }) => {
      const askings = await runProcesses(
        { urls: [redis.url], prefix: `${title}:`, windowMs, limits, durationMs: 2_000 },
        { processes: 4, ...options },
      );
      const told = askings.flatMap(({ verdict }) => verdict ?? []);
      const killed = 'killOneAfterMs' in options;
      expect(askings.length - told.length).toBeLessThanOrEqual(killed ? 11 : 0);
      expect(told.filter((verdict) => verdict.admitted && verdict.unchecked)).toEqual([]);
      // They stood in each other's way, in every dimension, and got on.
      expect(keysOf(askings)).toEqual(new Set(dimensions));
      expect(told.filter(({ admitted }) => admitted).length).toBeGreaterThan(300);
      expect(askings.filter(({ cached }) => cached).length).toBeGreaterThan(20);
      const ledger = openLedger(askings, { windowMs, limits });
      expect(ledger.overAdmissions(['user', 'token', 'ip', 'model'])).toEqual([]);
      expect(ledger.falseRefusals()).toEqual([]);
      // What a killed process had charged is in nobody's list.
      if (!killed) expect(ledger.wrongWaits()).toEqual([]);
    },
  );
});
