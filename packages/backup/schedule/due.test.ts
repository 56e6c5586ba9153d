import { expect, test } from 'vitest';
import { isDue, lastSlot } from './due.ts';

const schedule = { time: '03:30', everyHours: 24, timeZone: 'Asia/Shanghai' };
const at = (text: string) => new Date(text);
const done = (started: string) => ({
  started_at: at(started),
  ended_at: at(started),
  location: '/backups/a.tar',
  bytes: 1,
});

test('the last slot is at the time of the shop, today or yesterday, or some hours later', () => {
  expect(lastSlot(at('2026-03-01T19:30:00Z'), schedule)).toEqual(at('2026-03-01T19:30:00Z'));
  expect(lastSlot(at('2026-03-01T19:29:59Z'), schedule)).toEqual(at('2026-02-28T19:30:00Z'));
  const sixHours = { ...schedule, everyHours: 6 };
  expect(lastSlot(at('2026-03-02T08:10:00Z'), sixHours)).toEqual(at('2026-03-02T07:30:00Z'));
});

test('a backup is due when none has begun since its slot, and half an hour after one that failed', () => {
  const now = at('2026-03-01T19:40:00Z');
  expect(isDue(now, schedule, { done: null, failed: null })).toBe(true);
  expect(isDue(now, schedule, { done: done('2026-03-01T19:30:01Z'), failed: null })).toBe(false);
  expect(isDue(now, schedule, { done: done('2026-03-01T19:20:00Z'), failed: null })).toBe(true);
  const failed = { started_at: at('2026-03-01T19:31:00Z'), error: 'no space' };
  expect(isDue(now, schedule, { done: null, failed })).toBe(false);
  expect(isDue(at('2026-03-01T20:01:00Z'), schedule, { done: null, failed })).toBe(true);
});
