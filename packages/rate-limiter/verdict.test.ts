import { describe, expect, test } from 'vitest';
import { dimensionName, dimensions, type Limits } from './limits.ts';
import { noLimits } from './testing/oracle.ts';
import { refusalOf, tighter } from './verdict.ts';

/** The dimension that a refusal or an admission reports. */
const limits: Limits = { ...noLimits, user_rpm: 60, token_tpm: 1_000, ip_rpm: 600, model_tpm: 50 };

describe('a refusal names', () => {
  test.each([
    ['the longest wait', ['user_rpm', 5, 'token_tpm', 9, 'ip_rpm', 7], 'token_tpm', 9],
    ['the dimension that never fits', ['user_rpm', 59_999, 'model_tpm', null, 'ip_rpm', 7], 'model_tpm', null],
    ['on a tie the user before the address', ['user_rpm', 5, 'ip_rpm', 5], 'user_rpm', 5],
    ['on a tie requests before tokens, in any order of the input', ['user_tpm', 5, 'user_rpm', 5], 'user_rpm', 5],
    ['of several that never fit the first', ['token_tpm', null, 'model_tpm', null], 'token_tpm', null],
  ] as const)('%s', (_title, given, dimension, waitMs) => {
    const exceeded = [];
    for (let i = 0; i < given.length; i += 2)
      exceeded.push({ dimension: given[i] as (typeof dimensions)[number], waitMs: given[i + 1] as number | null });
    // When a dimension never fits, only such dimensions are reported.
    const reported = waitMs === null ? exceeded.filter((one) => one.waitMs === null) : exceeded;
    expect(refusalOf(exceeded, limits, 17)).toEqual({
      ...{ admitted: false, dimension, limit: limits[dimension], waitMs, at: 17 },
      denied: reported.map((one) => one.dimension),
    });
  });
});

test('the tightest dimension has the smallest remaining share; on a tie the first; remaining is never negative', () => {
  const first = tighter(null, 'user_rpm', 100, 50, 1);
  expect(first).toEqual({ dimension: 'user_rpm', limit: 100, remaining: 50, resetMs: 1 });
  expect(tighter(first, 'ip_rpm', 10, 5, 2)).toBe(first);
  expect(tighter(first, 'ip_rpm', 1_000_000, 500_001, 2)).toMatchObject({ dimension: 'ip_rpm', remaining: 499_999 });
  expect(tighter(first, 'ip_rpm', 10, 4, 2)).toBe(first);
  expect(tighter(first, 'ip_rpm', 10, 12, 2)).toMatchObject({ dimension: 'ip_rpm', remaining: 0 });
});

test('dimensions have the names of the texts', () => {
  expect(dimensions.map(dimensionName)).toEqual([
    ...['user RPM', 'user TPM', 'token RPM', 'token TPM', 'ip RPM', 'model RPM', 'model TPM'],
  ]);
});
