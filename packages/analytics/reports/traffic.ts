import type { z } from 'zod';
import { percentOf, pie, ratioOf, series } from '../charts.ts';
import { periodDays, sumOf } from '../days/read-days.ts';
import { type Day, shortDay } from '../days/shop-days.ts';
import type { Period } from '../days/window-store.ts';
import { channels, devices, pages } from '../visits/classify-visit.ts';
import { selectVisitDays } from '../visits/visit-store.ts';
import { channelNames, deviceNames, pageNames, stayName, viewsName, visitorsName } from './names.ts';
import { periodOf, type ReportDeps, type ReportRequest } from './report-deps.ts';
import type { trafficView } from './schemas.ts';

/** The counters of the visits of each day of a period, oldest first. A counter that a day does not have is 0. */
export async function visitsByDay(deps: ReportDeps, { days, today }: Period) {
  const wanted = periodDays(days, today);
  const rows = await selectVisitDays(deps.runtime.sql, wanted[0]!, today);
  const known = new Map(rows.map(({ day, counters }) => [day, counters]));
  return wanted.map((day: Day) => ({ day, count: (counter: string) => known.get(day)?.[counter] ?? 0 }));
}

/** Page views and visitors. A visitor is counted once a day; who comes on two days is two visitors. */
export async function trafficReport(
  deps: ReportDeps,
  { days, locale }: ReportRequest,
): Promise<z.input<typeof trafficView>> {
  const rows = await visitsByDay(deps, periodOf(deps, days));
  const total = (counter: string) => sumOf(rows, ({ count }) => count(counter));
  const totals = (prefix: string, of: readonly string[]) => of.map((name) => total(`${prefix}:${name}`));
  const [stays, seconds] = [totals('stays', pages), totals('seconds', pages)];
  return {
    summary: {
      total_pv: total('views'),
      total_uv: total('visitors'),
      avg_stay_seconds: ratioOf(
        sumOf(seconds, (n) => n),
        sumOf(stays, (n) => n),
      ),
      bounce_rate: percentOf(total('bounces'), total('visitors')),
    },
    pv_uv_trend: series(
      rows.map(({ day }) => shortDay(day)),
      [
        [viewsName, rows.map(({ count }) => count('views'))],
        [visitorsName, rows.map(({ count }) => count('visitors'))],
      ],
      locale,
    ),
    channel_distribution: pie(channelNames, totals('channel', channels), locale),
    device_distribution: pie(deviceNames, totals('device', devices), locale),
    page_stay: series(
      pageNames.map((name) => name[locale]),
      [[stayName, pages.map((_, n) => ratioOf(seconds[n]!, stays[n]!))]],
      locale,
    ),
  };
}
