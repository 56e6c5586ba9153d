import { describe, expect, test } from 'vitest';
import { nextQueryAt } from './schedule.ts';

const now = new Date('2026-03-01T00:00:00Z');
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000);
const seconds = (of: { days?: number; failures?: number; interval?: number }) => {
  const { days = 1, failures = 0, interval = 300 } = of;
  const next = nextQueryAt(now, { since: daysAgo(days), failures, intervalSeconds: interval });
  return next && (next.getTime() - now.getTime()) / 1000;
};

describe('the next query of a shipment', () => {
  test('is after the interval, and later with each failure in a row, up to six hours', () => {
    expect([0, 1, 2, 3].map((failures) => seconds({ failures }))).toEqual([300, 600, 1_200, 2_400]);
    for (const failures of [10, 1_000, 2 ** 31]) expect(seconds({ failures })).toBe(6 * 3_600);
    // An interval that is longer than that stays.
    expect(seconds({ failures: 3, interval: 86_400 })).toBe(86_400);
  });

  test('is a day later after 30 days, and never after 90', () => {
    expect(seconds({ days: 29 })).toBe(300);
    expect(seconds({ days: 31 })).toBe(86_400);
    expect(seconds({ days: 91 })).toBeNull();
  });
});
