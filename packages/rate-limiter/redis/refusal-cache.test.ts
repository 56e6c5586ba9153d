import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Limits, Refused } from '../limits.ts';
import { noKeys, noLimits, runs } from '../testing/oracle.ts';
import { unlimited } from './limiter-script.ts';
import { openRefusalCache } from './refusal-cache.ts';

/** A cached refusal must be the one that the store would give. */
const limits: Limits = { ...noLimits, user_rpm: 5, token_rpm: 3, ip_rpm: 10 };
const subject = { user: 1, token: 11, ip: '10.0.0', model: 'small' };
const refused = (waitMs: number | null, dimension: Refused['dimension'] = 'user_rpm'): Refused => ({
  ...{ admitted: false, dimension, limit: limits[dimension], waitMs, denied: [dimension], at: 1_000 },
});
function open(maxEntries = 100) {
  const clock = { now: 100.25 };
  return { clock, cache: openRefusalCache({ now: () => clock.now, maxEntries }) };
}
/** Caches a refusal that the store gave without delay. */
const keep = ({ clock, cache }: ReturnType<typeof open>, of: Refused, tokens = 7, under = limits) =>
  cache.keep(subject, under, tokens, of, clock.now, clock.now);

test('a refusal is repeated only while the store would repeat it, and its wait is never too short', () => {
  // The store counts whole milliseconds of another clock. The times to the store and back vary from zero.
  const fraction = fc.integer({ min: 0, max: 999 }).map((micros) => micros / 1_000);
  const moment = fc.record({
    offset: fraction,
    sent: fraction,
    toStore: fc.oneof(fraction, fc.integer({ min: 0, max: 40 })),
    back: fraction,
    waitMs: fc.integer({ min: 1, max: 50 }),
    checksAfter: fc.array(fc.integer({ min: 0, max: 60_000 }).map((micros) => micros / 1_000)),
  });
  fc.assert(
    fc.property(moment, ({ offset, sent, toStore, back, waitMs, checksAfter }) => {
      const { clock, cache } = open();
      const store = (local: number) => Math.floor(local + offset);
      const passesAt = store(sent + toStore) + waitMs;
      cache.keep(subject, limits, 7, refused(waitMs), sent, sent + toStore + back);
      for (const after of checksAfter.sort((a, b) => a - b)) {
        clock.now = sent + toStore + back + after;
        const answer = cache.find(subject, limits, 7) ?? cache.peek(subject, limits);
        if (!answer) continue;
        expect(store(clock.now), 'the store would admit').toBeLessThan(passesAt);
        expect(store(clock.now + answer.waitMs!), 'the wait is too short').toBeGreaterThanOrEqual(passesAt);
      }
    }),
    runs(2_000),
  );
});

test('a refused client that retries at once costs no round trips', () => {
  const at = open();
  keep(at, refused(50));
  at.clock.now += 40;
  expect(at.cache.find(subject, limits, 7)).toEqual({ ...refused(50), waitMs: 10 });
  expect(at.cache.peek(subject, limits)).toEqual({ ...refused(10), at: 0 });
  at.clock.now += 10;
  expect(at.cache.find(subject, limits, 7)).toBeNull();
  expect(at.cache.peek(subject, limits)).toBeNull();
});

describe('another request is not answered from the cache', () => {
  test.each([
    ['another cost', subject, limits, 8],
    ['another user', { ...subject, user: 2 }, limits, 7],
    ['another token', { ...subject, token: 12 }, limits, 7],
    ['another address', { ...subject, ip: '10.0.1' }, limits, 7],
    ['another model', { ...subject, model: 'large' }, limits, 7],
    ['no model', { ...subject, model: null }, limits, 7],
    ['a raised limit', subject, { ...limits, user_rpm: 6 }, 7],
    ['a lowered limit', subject, { ...limits, ip_rpm: 9 }, 7],
  ])('%s', (_title, request, otherLimits, tokens) => {
    const at = open();
    keep(at, refused(50));
    expect(at.cache.find(request, otherLimits, tokens)).toBeNull();
  });

  test('equal limits in another object are the same limits', () => {
    const at = open();
    keep(at, refused(50));
    expect(at.cache.find({ ...subject }, { ...limits }, 7)).not.toBeNull();
  });
});

test('a peek reports only exhausted requests dimensions, for any cost and model, under the same limit', () => {
  const at = open();
  keep(at, refused(50, 'token_rpm'));
  expect(at.cache.peek({ ...noKeys, user: 1, token: 11 }, limits)).toMatchObject({
    dimension: 'token_rpm',
    waitMs: 50,
  });
  expect(at.cache.peek({ ...noKeys, user: 1, token: 12 }, limits)).toBeNull();
  expect(at.cache.peek(subject, { ...limits, token_rpm: 4 })).toBeNull();
  const other = open();
  keep(other, refused(50, 'model_tpm'));
  expect(other.cache.peek(subject, limits)).toBeNull();
});

test('when another request fills a key meanwhile, the store is called for the longer wait', () => {
  const tpm = { ...limits, user_tpm: 100 };
  const at = open();
  keep(at, refused(50), 30, tpm);
  at.cache.charged('user:1', 2, 30);
  expect(at.cache.find(subject, tpm, 30)).not.toBeNull();
  at.cache.charged('ip:10.0.9', 0, unlimited);
  expect(at.cache.find(subject, tpm, 30)).not.toBeNull();
  at.cache.charged('user:1', 2, 29);
  expect(at.cache.find(subject, tpm, 30)).toBeNull();
  keep(at, refused(50), 30, tpm);
  at.cache.charged('ip:10.0.0', 0, unlimited);
  expect(at.cache.find(subject, tpm, 30)).toBeNull();
});

test('a request that never fits is not cached', () => {
  const at = open();
  keep(at, refused(null));
  expect(at.cache.find(subject, limits, 7)).toBeNull();
});

test('clear removes all refusals', () => {
  const at = open();
  keep(at, refused(50));
  at.cache.clear();
  expect(at.cache.find(subject, limits, 7)).toBeNull();
  expect(at.cache.peek(subject, limits)).toBeNull();
});

test('the number of refusals is bounded: the oldest are dropped', () => {
  const at = open(50_000);
  for (let i = 0; i < 60_000; i += 1)
    at.cache.keep({ ...subject, model: `m${i}` }, limits, 7, refused(50_000), at.clock.now, at.clock.now);
  expect(at.cache.find({ ...subject, model: 'm1' }, limits, 7)).toBeNull();
  expect(at.cache.find({ ...subject, model: 'm9999' }, limits, 7)).toBeNull();
  expect(at.cache.find({ ...subject, model: 'm59999' }, limits, 7)).not.toBeNull();
});

test('a refusal ends when one of its keys is dropped, because later charges of that key are no longer seen', () => {
  const at = open(3);
  keep(at, refused(50_000));
  expect(at.cache.find(subject, limits, 7)).not.toBeNull();
  at.cache.keep({ ...noKeys, user: 2 }, limits, 7, refused(50_000), at.clock.now, at.clock.now);
  at.cache.charged('user:1', 0, 0);
  expect(at.cache.find(subject, limits, 7)).toBeNull();
});
