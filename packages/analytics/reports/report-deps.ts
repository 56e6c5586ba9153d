import type { Locale } from '@tradepost/core';
import { type ConcurrencyLimit, type Runtime, timeZone } from '@tradepost/runtime';
import type { OrderDay } from '../days/day-store.ts';
import { periodDays, readDays, rowsOf } from '../days/read-days.ts';
import { dayOf } from '../days/shop-days.ts';
import { hasWindow, type Period } from '../days/window-store.ts';

export type ReportDeps = {
  readonly runtime: Runtime;
  /** Whether orders and products are there. Without them their numbers are 0. */
  readonly has: { readonly orders: boolean; readonly products: boolean };
  /** The reports and dashboards that this process makes at once. */
  readonly slots: ConcurrencyLimit;
};
export type ReportRequest = {
  readonly days: number;
  readonly locale: Locale;
  readonly fileUrl: (path: string) => string;
};

export function periodOf({ runtime }: ReportDeps, days: number): Period {
  const zone = runtime.settings.get(timeZone);
  return { zone, days, today: dayOf(runtime.now(), zone) };
}

/** The orders of each day of the period, oldest first. */
export async function ordersByDay({ runtime, has }: ReportDeps, { zone, days, today }: Period): Promise<OrderDay[]> {
  const wanted = periodDays(days, today);
  if (!has.orders) return rowsOf(new Map(), wanted);
  return rowsOf(await readDays(runtime.sql, { zone, days: wanted, now: runtime.now() }), wanted);
}

export const isStored = ({ runtime, has }: ReportDeps, period: Period): Promise<boolean> =>
  has.orders ? hasWindow(runtime.sql, period) : Promise.resolve(false);
