import { isoInZone } from '@tradepost/core';

/** A day of the shop's time zone: `2026-03-01`. */
export type Day = string;

const dayMs = 86_400_000;
const time = (day: Day) => Date.parse(`${day}T00:00:00Z`);
const dayAt = (ms: number): Day => new Date(ms).toISOString().slice(0, 10);

export const dayOf = (at: Date, zone: string): Day => isoInZone(at, zone).slice(0, 10);
export const addDays = (day: Day, days: number): Day => dayAt(time(day) + days * dayMs);
/** The number of days from `from` to `to`, both included. */
export const countDays = (from: Day, to: Day): number => Math.round((time(to) - time(from)) / dayMs) + 1;
/** All days from `from` to `to`, both included. Empty when `from` is after `to`. */
export const daysBetween = (from: Day, to: Day): Day[] =>
  Array.from({ length: Math.max(0, countDays(from, to)) }, (_, n) => addDays(from, n));
/** `MM-DD`, as charts show a day. */
export const shortDay = (day: Day): string => day.slice(5);

/** The same day some months earlier, or the last day of that month when it is shorter. */
export function monthsBefore(day: Day, months: number): Day {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  const last = new Date(Date.UTC(year, month - months, 0)).getUTCDate();
  return dayAt(Date.UTC(year, month - 1 - months, Math.min(date, last)));
}

/** Consecutive days as ranges, in their order. */
export function rangesOf(days: readonly Day[]): { from: Day; to: Day }[] {
  const ranges: { from: Day; to: Day }[] = [];
  for (const day of [...days].sort()) {
    const last = ranges.at(-1);
    if (last && addDays(last.to, 1) === day) last.to = day;
    else ranges.push({ from: day, to: day });
  }
  return ranges;
}

/**
 * The name of a time zone for PostgreSQL. `+08:00` is east of Greenwich in the setting and west of it in a zone of PostgreSQL,
 * so an offset is written as a POSIX zone.
 */
export function postgresZone(zone: string): string {
  const offset = /^([+-])(\d\d):?(\d\d)?$/.exec(zone);
  if (!offset) return zone;
  const [, sign, hours, minutes = '00'] = offset;
  return `<${sign}${hours}${minutes}>${sign === '+' ? '-' : '+'}${hours}:${minutes}`;
}
