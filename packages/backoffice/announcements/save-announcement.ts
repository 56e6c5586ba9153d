import type { Transaction } from '@tradepost/postgres';
import { backofficeErrors } from '../errors.ts';
import type { Announcement, AnnouncementText } from './announcement.ts';
import { insertAnnouncement, lockAnnouncement, lockAnnouncements, updateAnnouncement } from './announcement-store.ts';
import { maxAnnouncements } from './limits.ts';

/** Fields that are undefined stay unchanged. */
export type AnnouncementChanges = { [K in keyof AnnouncementText]?: AnnouncementText[K] | undefined };

function refuseEmptySpan({ starts_at, ends_at }: AnnouncementText): void {
  if (starts_at && ends_at && ends_at <= starts_at) throw backofficeErrors.ends_before_start();
}

/** Adds an announcement. It is visible from `starts_at` to `ends_at`. */
export async function createAnnouncement(tx: Transaction, text: AnnouncementText): Promise<Announcement> {
  refuseEmptySpan(text);
  await lockAnnouncements(tx);
  const added = await insertAnnouncement(tx, text);
  if (!added) throw backofficeErrors.too_many_announcements({ max: maxAnnouncements });
  return added;
}

export async function editAnnouncement(tx: Transaction, id: number, changes: AnnouncementChanges): Promise<void> {
  const before = await lockAnnouncement(tx, id);
  if (!before) throw backofficeErrors.announcement_not_found({ id });
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  const text: AnnouncementText = { ...before, ...given };
  refuseEmptySpan(text);
  await updateAnnouncement(tx, id, text);
}
