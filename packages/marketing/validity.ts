import { instantInZone, isoInZone } from '@tradepost/core';
import type { Queryable } from '@tradepost/postgres';
import { marketingErrors } from './errors.ts';

/** A time of validity in whole seconds. Both ends belong to it; null is open. */
export type Validity = { readonly start_at: Date | null; readonly end_at: Date | null };

export const hasStarted = ({ start_at }: Pick<Validity, 'start_at'>, now: Date): boolean =>
  start_at === null || start_at <= now;
/** The second of `end_at` belongs to the time. */
export const hasEnded = ({ end_at }: Pick<Validity, 'end_at'>, now: Date): boolean =>
  end_at !== null && end_at.getTime() + 1_000 <= now.getTime();

/** The condition of SQL for `hasEnded` of a column `end_at`: rows whose `end_at` is at most this time have ended. */
export const endedUpTo = (now: Date): Date => new Date(now.getTime() - 1_000);

/** The condition for rows that are valid now, on the columns `start_at` and `end_at`. */
export const validNow = (sql: Queryable, now: Date) =>
  sql`(start_at is null or start_at <= ${now}) and (end_at is null or end_at > ${endedUpTo(now)})`;

/** The times of a form. Absent is unchanged; null and '' are open. */
type GivenTimes = { start_at?: string | null | undefined; end_at?: string | null | undefined };

function timeIn(field: keyof GivenTimes, text: string | null | undefined, before: Date | null, zone: string) {
  if (text === undefined) return before;
  const given = text?.trim() ?? '';
  if (given === '') return null;
  const at = instantInZone(given, zone, field === 'start_at' ? 'start' : 'end');
  if (!at) throw marketingErrors.invalid_time({ field });
  // Answers have whole seconds, so a row that is sent back does not change.
  return new Date(Math.floor(at.getTime() / 1_000) * 1_000);
}

/** The new times. Times without an offset are in `zone`; a date as the end is its last second. */
export function changedValidity(before: Validity, given: GivenTimes, zone: string): Validity {
  const start_at = timeIn('start_at', given.start_at, before.start_at, zone);
  const end_at = timeIn('end_at', given.end_at, before.end_at, zone);
  if (start_at && end_at && end_at <= start_at) throw marketingErrors.ends_before_start();
  return { start_at, end_at };
}

/** The times of an answer. */
export const validityView = ({ start_at, end_at }: Validity, zone: string) => ({
  start_at: start_at && isoInZone(start_at, zone),
  end_at: end_at && isoInZone(end_at, zone),
});
