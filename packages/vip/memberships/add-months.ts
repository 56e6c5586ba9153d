import { instantInZone, isoInZone } from '@tradepost/core';

/**
 * The same time of day some calendar months later, in a time zone. The 31st becomes the last day of a shorter month.
 */
export function addMonths(at: Date, months: number, zone: string): Date {
  const local = isoInZone(at, zone);
  const [year, month, day] = local.slice(0, 10).split('-').map(Number) as [number, number, number];
  const target = year * 12 + (month - 1) + months;
  const [newYear, newMonth] = [Math.trunc(target / 12), (target % 12) + 1];
  const lastDay = new Date(Date.UTC(newYear, newMonth, 0)).getUTCDate();
  const two = (value: number) => String(value).padStart(2, '0');
  const date = `${String(newYear).padStart(4, '0')}-${two(newMonth)}-${two(Math.min(day, lastDay))}`;
  const end = instantInZone(
    `${date}T${local.slice(11, 19)}.${String(at.getUTCMilliseconds()).padStart(3, '0')}`,
    zone,
    'start',
  );
  if (!end) throw new RangeError(`${months} months after ${local}`);
  return end;
}
