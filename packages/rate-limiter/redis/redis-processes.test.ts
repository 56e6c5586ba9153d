import { openRedis, type RedisServer, redisIsInstalled } from '@tradepost/testing/servers/redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dimensions, type Limits } from '../limits.ts';
import { type CheckRecord, openLedger, runProcesses } from '../testing/ledger.ts';

/** Four processes on one Redis admit and refuse the same requests as one process. */
const hasRedis = redisIsInstalled('the tests of several limiter processes');
let redis: RedisServer;
beforeAll(async () => {
  if (hasRedis) redis = await openRedis();
});
afterAll(() => redis?.close());

const windowMs = 400;
/** Limits that cause refusals in every dimension. */
const limits: Limits = {
  ...{ user_rpm: 45, user_tpm: 800, token_rpm: 26, token_tpm: 450, ip_rpm: 55 },
  ...{ model_rpm: 52, model_tpm: 900 },
};
const deniedBy = (records: readonly CheckRecord[]) =>
  new Set(records.flatMap(({ verdict }) => (verdict?.admitted === false ? verdict.denied : [])));

describe.skipIf(!hasRedis)('', () => {
  test.each([
    { title: 'all processes live', options: {} },
    { title: 'one process is killed', options: { killOneAfterMs: 800 } },
  ])(
    'no window contains more than its limit, and no request is refused without reason: $title',
    async ({ title, options }) => {
      const records = await runProcesses(
        { urls: [redis.url], prefix: `${title}:`, windowMs, limits, durationMs: 2_000 },
        { processes: 4, ...options },
      );
      const verdicts = records.flatMap(({ verdict }) => verdict ?? []);
      const killed = 'killOneAfterMs' in options;
      expect(records.length - verdicts.length).toBeLessThanOrEqual(killed ? 11 : 0);
      expect(verdicts.filter((verdict) => verdict.admitted && verdict.unchecked)).toEqual([]);
      // The processes competed in every dimension.
      expect(deniedBy(records)).toEqual(new Set(dimensions));
      expect(verdicts.filter(({ admitted }) => admitted).length).toBeGreaterThan(300);
      expect(records.filter(({ cached }) => cached).length).toBeGreaterThan(20);
      const ledger = openLedger(records, { windowMs, limits });
      expect(ledger.overAdmissions(['user', 'token', 'ip', 'model'])).toEqual([]);
      expect(ledger.falseRefusals()).toEqual([]);
      // The charges of a killed process are in no record.
      if (!killed) expect(ledger.wrongWaits()).toEqual([]);
    },
  );
});
