import { instantInZone, isoInZone } from '@tradepost/core';
import { backofficeErrors } from '../errors.ts';
import type { Announcement } from './announcement.ts';

/** An announcement as clients and commands show it, with times in the zone of the shop. */
export function announcementViewOf(row: Announcement, zone: string) {
  const { id, title, content, type, state } = row;
  const iso = (at: Date | null) => at && isoInZone(at, zone);
  return {
    ...{ id, title, content, type, state },
    starts_at: iso(row.starts_at),
    ends_at: iso(row.ends_at),
    created_at: isoInZone(row.created_at, zone),
    updated_at: isoInZone(row.updated_at, zone),
  };
}

type Field = 'starts_at' | 'ends_at';

function timeIn(field: Field, text: string | null | undefined, zone: string): Date | null | undefined {
  if (text === undefined) return undefined;
  const given = text?.trim() ?? '';
  if (given === '') return null;
  const at = instantInZone(given, zone, field === 'starts_at' ? 'start' : 'end');
  if (!at) throw backofficeErrors.invalid_time({ field });
  return at;
}

/** The times of a form. An absent field is undefined, an empty one null. */
export const spanOf = (given: { [F in Field]?: string | null | undefined }, zone: string) => ({
  starts_at: timeIn('starts_at', given.starts_at, zone),
  ends_at: timeIn('ends_at', given.ends_at, zone),
});
