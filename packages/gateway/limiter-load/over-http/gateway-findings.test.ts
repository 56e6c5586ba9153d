import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openHistogram } from '../histogram.ts';
import { openMix } from '../in-process/mix.ts';
import { GatewayAdmissions, type GatewayAdmissionsOptions } from './gateway-admissions.ts';
import { openIntervalLog } from './interval-log.ts';
import { gatewayFindings } from './load-gateway.ts';

/** Findings over HTTP must be certain: an exact limiter never has an over-admission. */
test('the count of a client never exceeds what was charged in a window, at whatever time between sending and answer', () => {
  const request = fc.record({
    gap: fc.integer({ min: 0, max: 900 }),
    took: fc.integer({ min: 0, max: 700 }),
    where: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(request, { maxLength: 60 }), (requests) => {
      let received = 5_000;
      const charged: number[] = [];
      const log = openIntervalLog(2_000);
      for (const { gap, took, where } of requests) {
        received += gap;
        const sent = received - took;
        charged.push(sent + took * where);
        log.admitted(sent, received, 3);
      }
      const most = Math.max(0, ...charged.map((end) => charged.filter((at) => at <= end && at > end - 2_000).length));
      expect(log.maxRequests).toBeLessThanOrEqual(most);
      expect(log.maxTokens).toBe(log.maxRequests * 3);
    }),
  );
});

test('requests with immediate answers are counted exactly, and leave with their window', () => {
  const log = openIntervalLog(2_000);
  for (let i = 0; i < 7; i += 1) log.admitted(1_000 + i * 100, 1_001 + i * 100, 1);
  expect(log.maxRequests).toBe(7);
  for (let i = 0; i < 7; i += 1) log.admitted(4_000 + i * 100, 4_001 + i * 100, 1);
  expect(log.maxRequests).toBe(7);
  log.admitted(1e9, 1e9 + 1, 1);
  expect(log.maxRequests).toBe(7);
});

const admissionsWith = (options: Partial<GatewayAdmissionsOptions> = {}) =>
  new GatewayAdmissions({
    ...{ tokenNames: ['tp-a', 'tp-b'], model: null, given: {}, facts: null, windowMs: 60_000, ...options },
  });

test('given and read limits apply to each key; unchecked requests explain an excess of the same size', () => {
  const facts = {
    tokens: [7, 7].map((userId) => ({ userId, limits: { user_rpm: 5, user_tpm: 0, token_rpm: 4, token_tpm: 0 } })),
    ...{ ip_rpm: 0, model: null },
  };
  const admissions = admissionsWith({ facts });
  for (let i = 0; i < 3; i += 1) for (const token of [0, 1]) admissions.admitted(token, 1_000 + i, 1_001 + i, 0);
  expect(admissions.excesses()).toEqual([{ dimension: 'user_rpm', key: 'user:7', count: 6, limit: 5 }]);
  expect(gatewayFindings(admissions, 0, [])).toMatchObject({
    ...{ method: 'bound', over_admissions: 1, explained_by_unchecked: 0 },
    ...{ verified: ['user_rpm', 'token_rpm', 'ip_rpm'], not_verified: [], false_refusals: null },
    proofs: [{ what: 'over_admission', key: 'user:7' }],
  });
  expect(gatewayFindings(admissions, 1, [])).toMatchObject({
    over_admissions: 0,
    explained_by_unchecked: 1,
    proofs: [],
  });
});

test('without them a refusal names the limit of its key, and other dimensions are not verified', () => {
  const admissions = admissionsWith();
  for (let i = 0; i < 6; i += 1) admissions.admitted(0, 1_000 + i, 1_001 + i, 0);
  expect(gatewayFindings(admissions, 0, [])).toMatchObject({ over_admissions: 0, verified: [] });
  admissions.limitNamed(0, 'token_rpm', 4);
  expect(admissions.partlyVerified).toEqual([{ dimension: 'token_rpm', known: 1, of: 2 }]);
  expect(gatewayFindings(admissions, 0, [])).toMatchObject({
    over_admissions: 2,
    not_verified: ['user_rpm', 'token_rpm', 'ip_rpm'],
  });
});

test('tokens of chat completions are compared with the limits of tokens', () => {
  const admissions = admissionsWith({ model: 'm', given: { model_tpm: 100, user_rpm: 0 } });
  for (let i = 0; i < 11; i += 1) admissions.admitted(0, 1_000 + i, 1_001 + i, 10);
  expect(admissions.excesses()).toEqual([{ dimension: 'model_tpm', key: 'model:m', count: 110, limit: 100 }]);
  expect(admissions.verified).toEqual(['user_rpm', 'model_tpm']);
});

test('percentiles are within 1 % of the true ones', () => {
  const histogram = openHistogram();
  for (let i = 1; i <= 10_000; i += 1) histogram.record(i / 100);
  const { mean, p50, p99, max } = histogram.summary();
  for (const [value, exact] of [
    [mean, 50.005],
    [p50, 50],
    [p99, 99],
    [max, 100],
  ] as const)
    expect(Math.abs(value / exact - 1)).toBeLessThan(0.01);
  expect(openHistogram().summary()).toEqual({ mean: 0, p50: 0, p99: 0, max: 0 });
  const outlier = openHistogram();
  outlier.record(1e9);
  expect(outlier.summary().max).toBe(1e9);
});

test('the same seed draws the same requests; a mix has the given keys, the first ones most often', () => {
  const options = {
    users: 50,
    tokensPerUser: 3,
    ips: 5,
    models: 2,
    distribution: 'zipf',
    cost: [5, 9],
    seed: 11,
  } as const;
  const drawn = (seed: number) => {
    const mix = openMix({ ...options, seed });
    return Array.from({ length: 20_000 }, () => {
      const keys = [0, 0, 0, 0];
      const cost = mix.draw(keys, 0);
      return [...keys, cost] as [number, number, number, number, number];
    });
  };
  const all = drawn(11);
  expect(drawn(11)).toEqual(all);
  expect(drawn(12)).not.toEqual(all);
  const times = (user: number) => all.filter(([of]) => of === user).length;
  // By Zipf's law the first of 50 has a share of 1/4.499, the second half of that.
  expect(times(0) / 20_000).toBeCloseTo(1 / 4.499, 1);
  expect(times(0) / times(1)).toBeCloseTo(2, 0);
  for (const [user, token, ip, model, cost] of all) {
    expect(Math.floor(token / 3)).toBe(user);
    expect(ip >= 0 && ip < 5 && model >= 0 && model < 2 && cost >= 5 && cost <= 9).toBe(true);
  }
  const mix = openMix({ ...options, tokensPerUser: 0, models: 0 });
  expect(mix.subjectOf([4, 0, 2, 0], 0)).toEqual({ user: 5, token: null, ip: '10.0.2', model: null });
});
