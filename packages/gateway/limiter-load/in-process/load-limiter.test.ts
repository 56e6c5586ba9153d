import {
  type Limiter,
  type Limits,
  openEmbeddedLimiter,
  unlimitedAdmission,
  type Verdict,
} from '@tradepost/rate-limiter';
import { afterEach, expect, test } from 'vitest';
import { exitCodeOf, reportOf, reportText } from '../report.ts';
import { type LimiterLoad, loadLimiter } from './load-limiter.ts';

/** Runs against limiters that are exact or wrong on purpose. The report must recognize both. */
const windowMs = 100;
const limits: Limits = {
  ...{ user_rpm: 12, user_tpm: 500, token_rpm: 7, token_tpm: 0, ip_rpm: 40 },
  ...{ model_rpm: 0, model_tpm: 2_000 },
};
let opened: Limiter | null = null;
afterEach(() => opened?.close());

async function run(limiter: Limiter, options: Partial<LimiterLoad> = {}) {
  opened = limiter;
  const mix = {
    users: 20,
    tokensPerUser: 2,
    ips: 4,
    models: 2,
    distribution: 'zipf',
    cost: [10, 90],
    seed: 3,
  } as const;
  const load = loadLimiter(limiter, {
    ...{ mix, limits, concurrency: 8, windowMs, cacheHits: null, evicted: () => 0 },
    ...{ durationMs: 450, rate: null, maxRequests: 1e9, signal: new AbortController().signal },
    ...options,
  });
  return reportOf(load, { url: null, seed: 3, limits, maxErrors: 0 });
}

/** A clock that advances by a millisecond every 40 checks, so that a busy machine has checks in every millisecond. */
function clock(): () => number {
  let checks = 0;
  return () => {
    checks += 1;
    return 1_800_000_000_000 + Math.floor(checks / 40);
  };
}
/** 1.5 seconds of that clock. */
const byClock = { durationMs: 60_000, maxRequests: 60_000 };
const embedded = (of = windowMs) => openEmbeddedLimiter({ memoryMb: 4, windowMs: of, now: clock() });
/** A limiter that checks other limits than it is given. */
const withLimits = (change: (limit: number) => number): Limiter => {
  const right = embedded();
  const others = Object.fromEntries(Object.entries(limits).map(([k, v]) => [k, v > 0 ? change(v) : 0])) as Limits;
  return { ...right, check: (subject, _limits, tokens) => right.check(subject, others, tokens) };
};

test('an exact limiter passes over many windows', async () => {
  const report = await run(openEmbeddedLimiter({ memoryMb: 4, windowMs }));
  expect(report).toMatchObject({
    ...{ target: 'embedded', ended: 'duration', errors: 0, unchecked: 0, passed: true },
    exactness: { method: 'exact', over_admissions: 0, false_refusals: 0, unsure_refusals: 0, proofs: [] },
  });
  expect(report.exactness.verified).toEqual(['user_rpm', 'user_tpm', 'token_rpm', 'ip_rpm', 'model_tpm']);
  // More requests than one window holds were admitted, and every request is counted.
  expect(report.admitted).toBeGreaterThan(100);
  expect(report.admitted + report.refused).toBe(report.requests);
  expect(Object.values(report.refused_by).reduce((sum, count) => sum + count)).toBe(report.refused);
  expect(report.latency_ms.p50).toBeGreaterThan(0);
  expect(report.latency_ms.p50).toBeLessThanOrEqual(report.latency_ms.p99);
  expect(exitCodeOf(report)).toBe(0);
});

test('one admission too many is found and named', async () => {
  const report = await run(
    withLimits((limit) => limit + 1),
    byClock,
  );
  expect(report.exactness.over_admissions).toBeGreaterThan(0);
  expect(report.exactness.proofs[0]).toMatchObject({
    what: 'over_admission',
    key: expect.stringMatching(/^(user|token|ip|model):/),
  });
  const { count, limit } = report.exactness.proofs[0]!;
  expect(count).toBe(limit + 1);
  expect(reportText(report)).toMatch(/Proof +\S+ had \d+ of \d+ /);
  expect(exitCodeOf(report)).toBe(1);
});

test('a window that is a millisecond too short is found', async () => {
  const report = await run(embedded(windowMs - 1), byClock);
  expect(report.exactness.over_admissions).toBeGreaterThan(0);
  expect(exitCodeOf(report)).toBe(1);
});

test('a false refusal is found', async () => {
  const report = await run(
    withLimits((limit) => limit - 1),
    byClock,
  );
  expect(report.exactness.over_admissions).toBe(0);
  expect(report.exactness.proofs[0]).toMatchObject({ what: 'false_refusal', key: expect.stringMatching(/^user:/) });
  expect(exitCodeOf(report)).toBe(1);
});

test('a window that is a millisecond too long is found', async () => {
  const report = await run(embedded(windowMs + 1), byClock);
  expect(report.exactness.over_admissions).toBe(0);
  expect(report.exactness.false_refusals).toBeGreaterThan(0);
});

test('the same faults are found in a limiter that answers asynchronously', async () => {
  const late = (limiter: Limiter): Limiter => ({
    ...limiter,
    kind: 'redis',
    check: async (...args): Promise<Verdict> => limiter.check(...args),
  });
  expect((await run(late(embedded()), byClock)).passed).toBe(true);
  expect((await run(late(withLimits((limit) => limit + 1)), byClock)).exactness.over_admissions).toBeGreaterThan(0);
  expect((await run(late(withLimits((limit) => limit - 1)), byClock)).exactness.false_refusals).toBeGreaterThan(0);
});

test('unchecked requests are no over-admissions, and refusals after a lost answer are not judged', async () => {
  const right = embedded();
  let n = 0;
  const lossy: Limiter = {
    ...right,
    kind: 'redis',
    // The request is charged, but the answer arrives too late.
    check: async (...args): Promise<Verdict> => {
      const verdict = right.check(...args);
      n += 1;
      return n % 10 === 0 && verdict.admitted ? { ...unlimitedAdmission, unchecked: 'timeout' } : verdict;
    },
  };
  const report = await run(lossy, byClock);
  expect(report.unchecked).toBeGreaterThan(0);
  expect(report.exactness).toMatchObject({ over_admissions: 0, false_refusals: 0 });
  expect(report.passed).toBe(true);
});

test('errors are counted by kind and fail the run', async () => {
  const right = embedded();
  let n = 0;
  const failing: Limiter = {
    ...right,
    check(...args) {
      n += 1;
      if (n % 100 === 0) throw new Error('out of order');
      return right.check(...args);
    },
  };
  const report = await run(failing, { maxRequests: 1_000 });
  expect(report).toMatchObject({ requests: 1_000, ended: 'max_requests', errors: 10, passed: false });
  expect(report.error_kinds).toEqual({ 'out of order': 10 });
});

test('a rate is not exceeded, and a signal ends the run with a report', async () => {
  const slow = await run(embedded(), { rate: 1_000 });
  expect(slow.requests).toBeLessThanOrEqual(slow.seconds * 1_000 + 2);
  expect(slow.requests).toBeGreaterThan(0);
  const stop = new AbortController();
  const running = run(embedded(), { durationMs: 60_000, signal: stop.signal });
  setTimeout(() => stop.abort(), 50);
  expect(await running).toMatchObject({ ended: 'stopped', passed: true });
});
