import type { Sql } from '@tradepost/postgres';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { changedHoursPerRun, daysPerRoll, missedAfterMs, refreshMs } from '../limits.ts';
import { areCountsDue, storeCounts } from '../reports/catalogue-store.ts';
import { deleteOldVisitors } from '../visits/visit-store.ts';
import {
  deleteOtherZones,
  lockRolling,
  markMissed,
  rollRange,
  selectFirstDay,
  selectMissingDays,
  takeChangedDays,
} from './day-store.ts';
import { orderChanges } from './mark-changed-days.ts';
import { addDays, type Day, dayOf, daysBetween, rangesOf } from './shop-days.ts';
import { analyzeWindows, isRefreshDue, refreshCategories, refreshWindow, windowDays } from './window-store.ts';

type Deps = Pick<Runtime, 'sql' | 'settings' | 'now'>;
type Options = {
  readonly signal?: AbortSignal | undefined;
  /** Count all days again, also those that the roll-up has. */
  readonly all?: boolean;
  /** The shortest time between two refreshes of the sums of a period. Default: `refreshMs`. */
  readonly refreshMs?: number;
  readonly onProgress?: (done: number, total: number) => void;
};

/** Counts these days, some in each transaction, the newest first. Returns the number of counted days. */
async function rollMany(sql: Sql, zone: string, days: readonly Day[], { signal, onProgress, all = false }: Options) {
  let done = 0;
  for (const { from, to } of rangesOf(days).reverse())
    for (let last = to; last >= from; last = addDays(last, -daysPerRoll)) {
      if (signal?.aborted) return done;
      const first = [from, addDays(last, 1 - daysPerRoll)].sort().at(-1)!;
      const rolled = await sql.begin(async (tx) => {
        await tx`set local statement_timeout = 0`;
        if (!(await lockRolling(tx, { wait: all }))) return false;
        await rollRange(tx, { zone, from: first, to: last });
        return true;
      });
      if (!rolled) return done;
      done += daysBetween(first, last).length;
      onProgress?.(done, days.length);
    }
  return done;
}

/** Counts the days again whose orders have changed since they were counted. */
async function rollChanged(sql: Sql, zone: string, today: Day, wait: boolean): Promise<number> {
  return sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    if (!(await lockRolling(tx, { wait }))) return 0;
    const days = await takeChangedDays(tx, zone, today, changedHoursPerRun);
    for (const { from, to } of rangesOf(days)) await rollRange(tx, { zone, from, to });
    return days.length;
  });
}

/**
 * Brings the roll-up up to date: days that it does not have, days whose orders have changed, the sums of the
 * periods, and the counts of the catalogue. Only one
 * process does it at a time. Returns the number of counted days.
 */
export async function rollDays({ sql, settings, now }: Deps, options: Options = {}): Promise<number> {
  const { signal, all = false } = options;
  const zone = settings.get(timeZone);
  const today = dayOf(now(), zone);
  const yesterday = addDays(today, -1);
  const first = await selectFirstDay(sql, zone);
  const days =
    first === null
      ? []
      : all
        ? daysBetween(first, yesterday)
        : await selectMissingDays(sql, { zone, from: first, to: yesterday });
  await markMissed(sql, orderChanges, missedAfterMs);
  const missing = await rollMany(sql, zone, days, options);
  const counted = missing + (signal?.aborted ? 0 : await rollChanged(sql, zone, today, all));
  if (signal?.aborted) return counted;
  // Sums over 90 days read many orders, so frequent changes of past days are collected for some minutes.
  const afterMs = options.refreshMs ?? refreshMs;
  const isDue = all || (await isRefreshDue(sql, zone, today, afterMs));
  const isCatalogueDue = all || (await areCountsDue(sql, afterMs));
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    if (!(await lockRolling(tx, { wait: all }))) return;
    if (isDue) {
      for (const days of windowDays) await refreshWindow(tx, { zone, days, today });
      await analyzeWindows(tx);
    }
    if (isCatalogueDue) {
      // Products move to other categories without an event.
      if (!isDue) for (const days of windowDays) await refreshCategories(tx, days);
      await storeCounts(tx);
    }
    await deleteOtherZones(tx, zone);
    await deleteOldVisitors(tx, today);
  });
  return counted;
}
