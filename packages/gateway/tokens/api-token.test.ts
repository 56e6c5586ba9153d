import { expect, test } from 'vitest';
import { digestOf, isSecret, newSecret, statusOf } from './api-token.ts';

test('secrets have the documented form, are unique, and use all digits equally often', () => {
  const many = Array.from({ length: 5_000 }, newSecret);
  expect(new Set(many.map(({ secret }) => secret)).size).toBe(many.length);
  const counts = new Map<string, number>();
  for (const { secret, prefix, hash } of many) {
    expect(isSecret(secret)).toBe(true);
    expect(secret.startsWith(prefix) && prefix.length === 11).toBe(true);
    expect(hash.toString('base64')).toBe(digestOf(secret));
    for (const digit of secret.slice(3)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
  }
  expect(counts.size).toBe(62);
  // 240,000 digits: 3,871 of each, with a deviation of 62. Without skipped bytes the first eight would have 4,688.
  for (const [digit, count] of counts) expect(Math.abs(count - 3_871), digit).toBeLessThan(500);
});

test('a revoked token is revoked also after its expiry, and a token is expired at the time of its expiry', () => {
  const now = new Date('2026-03-01T00:00:00Z');
  const past = new Date('2026-02-01T00:00:00Z');
  expect(statusOf({ revoked_at: past, expires_at: past }, now)).toBe('revoked');
  expect(statusOf({ revoked_at: null, expires_at: now }, now)).toBe('expired');
  expect(statusOf({ revoked_at: null, expires_at: new Date(now.getTime() + 1) }, now)).toBe('active');
  expect(statusOf({ revoked_at: null, expires_at: null }, now)).toBe('active');
});
