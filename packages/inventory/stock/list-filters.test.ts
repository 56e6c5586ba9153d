import { expect, test } from 'vitest';
import { spanOf } from './list-filters.ts';

const zone = 'Asia/Shanghai';
/** `before` is the first time after the span. */
test.each([
  ['2026-02-01', '2026-01-31T16:00:00.000Z', '2026-02-01T16:00:00.000Z'],
  ['2026-02-01 09:30:00', '2026-02-01T01:30:00.000Z', '2026-02-01T01:30:01.000Z'],
  ['2026-02-01T09:30', '2026-02-01T01:30:00.000Z', '2026-02-01T01:31:00.000Z'],
  ['2026-02-01T09:30:00Z', '2026-02-01T09:30:00.000Z', '2026-02-01T09:30:01.000Z'],
  ['2026-02-01T09:30:00-05:00', '2026-02-01T14:30:00.000Z', '2026-02-01T14:30:01.000Z'],
  ['2026-02-01T09:30:00.250Z', '2026-02-01T09:30:00.250Z', '2026-02-01T09:30:00.251Z'],
])('%s as both ends is a span that contains it', (text, from, before) => {
  const span = spanOf({ start_at: text, end_at: text }, zone);
  expect([span.from?.toISOString(), span.before?.toISOString()]).toEqual([from, before]);
});

test('an absent end is no bound', () => {
  expect(spanOf({ start_at: '', end_at: undefined }, zone)).toEqual({ from: null, before: null });
});
