import { instantInZone } from '@tradepost/core';
import { addDays, countDays, type Day } from '../days/shop-days.ts';
import { analyticsErrors } from '../errors.ts';
import { defaultChartDays, maxChartDays } from '../limits.ts';

export type ChartQuery = {
  readonly range?: '7d' | '1w' | '1m' | undefined;
  readonly start_date?: string | undefined;
  readonly end_date?: string | undefined;
};

const daysOf = { '7d': 7, '1w': 7, '1m': 30 } as const;

function dayIn(field: string, text: string): Day {
  // A time behind the day is ignored: clients send `2026-03-01` or `2026-03-01 00:00:00`.
  const day = text.trim().slice(0, 10);
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || instantInZone(text.trim(), 'UTC', 'start') === null)
    throw analyticsErrors.invalid_day({ field });
  return day;
}

/**
 * The days of the chart: from `start_date` to `end_date`, else those of `range`, else 30 days. With one of the two dates the other
 * one is today, or 30 days before the end.
 */
export function chartRange({ range, start_date, end_date }: ChartQuery, today: Day): { from: Day; to: Day } {
  if (!start_date && !end_date)
    return { from: addDays(today, 1 - (range ? daysOf[range] : defaultChartDays)), to: today };
  const start = start_date ? dayIn('start_date', start_date) : null;
  const to = end_date ? dayIn('end_date', end_date) : [today, start!].sort().at(-1)!;
  const from = start ?? addDays(to, 1 - defaultChartDays);
  if (from > to) throw analyticsErrors.days_reversed();
  if (countDays(from, to) > maxChartDays) throw analyticsErrors.too_many_days({ max: maxChartDays });
  return { from, to };
}
