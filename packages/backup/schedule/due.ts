import { isoInZone } from '@tradepost/core';
import type { LatestRuns } from './run-store.ts';

const minuteMs = 60_000;
const dayMinutes = 24 * 60;
/** The pause after a failed backup. */
const retryMs = 30 * minuteMs;

const minutesIn = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));

export type Schedule = { readonly time: string; readonly everyHours: number; readonly timeZone: string };

/** The last time at or before `now` at which a backup should have begun. */
export function lastSlot(now: Date, { time, everyHours, timeZone }: Schedule): Date {
  const minutes = minutesIn(isoInZone(now, timeZone).slice(11, 16));
  const since = (minutes - minutesIn(time) + dayMinutes) % (everyHours * 60);
  return new Date(Math.floor(now.getTime() / minuteMs) * minuteMs - since * minuteMs);
}

/** Whether a backup is due. One that failed is tried again after half an hour. */
export function isDue(now: Date, schedule: Schedule, { done, failed }: LatestRuns): boolean {
  if (done && done.started_at >= lastSlot(now, schedule)) return false;
  return !failed || now.getTime() - failed.started_at.getTime() >= retryMs;
}
