import type { Sql } from '@tradepost/postgres';
import { countDaysLive, emptyDay, type OrderDay, selectRolledDays } from './day-store.ts';
import { addDays, type Day, dayOf, daysBetween, rangesOf } from './shop-days.ts';

/**
 * The orders of these days by day: past days from the roll-up, the running day from the tables. Days that the roll-up does not have
 * yet are counted in the tables too.
 */
export async function readDays(
  sql: Sql,
  { zone, days, now }: { zone: string; days: readonly Day[]; now: Date },
): Promise<Map<Day, OrderDay>> {
  const today = dayOf(now, zone);
  const past = [...new Set(days)].filter((day) => day < today);
  const isLive = days.includes(today);
  const [{ rows, first }, live] = await Promise.all([
    selectRolledDays(sql, zone, past),
    isLive ? countDaysLive(sql, { zone, from: today, to: today }) : [],
  ]);
  const known = new Map([...rows, ...live].map((row) => [row.day, row]));
  const missing = rangesOf(past.filter((day) => first !== null && day >= first && !known.has(day)));
  if (missing.length > 0) {
    const wanted = { from: missing[0]!.from, to: missing.at(-1)!.to };
    for (const row of await countDaysLive(sql, { zone, ...wanted })) if (!known.has(row.day)) known.set(row.day, row);
  }
  return known;
}

/** The days of a period that ends today, oldest first, with zeros for days without orders. */
export const periodDays = (days: number, today: Day): Day[] => daysBetween(addDays(today, 1 - days), today);

export const rowsOf = (known: ReadonlyMap<Day, OrderDay>, days: readonly Day[]): OrderDay[] =>
  days.map((day) => known.get(day) ?? emptyDay(day));

export const sumOf = <T>(rows: readonly T[], value: (row: T) => number): number =>
  rows.reduce((sum, row) => sum + value(row), 0);

/** Adds lists of numbers of the same length. */
export const addLists = (lists: readonly (readonly number[])[], length: number): number[] =>
  Array.from({ length }, (_, n) => sumOf(lists, (list) => list[n] ?? 0));
