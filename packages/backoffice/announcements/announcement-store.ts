import type { Paging } from '@tradepost/core';
import type { Queryable, Transaction } from '@tradepost/postgres';
import type { Announcement, AnnouncementState, AnnouncementText } from './announcement.ts';
import { maxAnnouncements } from './limits.ts';

/** All columns, and the state at the time of the transaction. */
const announcements = (sql: Queryable) => sql`
  select id, title, content, type, starts_at, ends_at, created_at, updated_at, withdrawn_at,
         case when withdrawn_at is not null then 'withdrawn'
              when ends_at <= now() then 'ended'
              when starts_at > now() then 'scheduled'
              else 'visible' end as state
  from backoffice.announcements`;

/** A page of the announcements in a state, or of all with null, newest first. */
export async function selectAnnouncements(
  sql: Queryable,
  state: AnnouncementState | null,
  paging: Paging,
): Promise<{ rows: Announcement[]; total: number }> {
  const rows = await sql<(Announcement & { total: number })[]>`
    with matching as (
      select * from (${announcements(sql)}) as a ${state === null ? sql`` : sql`where state = ${state}`}
    ),
    counted as (select count(*)::int as total from matching),
    page as (select * from matching order by id desc limit ${paging.size} offset ${paging.offset})
    select page.*, counted.total from counted left join page on true order by page.id desc`;
  return { rows: rows.filter(({ id }) => id !== null), total: rows[0]?.total ?? 0 };
}

/** The newest visible announcements. */
export const selectNewestAnnouncements = async (sql: Queryable, limit: number): Promise<Announcement[]> =>
  (await selectAnnouncements(sql, 'visible', { page: 1, size: limit, offset: 0 })).rows;

/** The announcement, which no other transaction can change until this one ends. Undefined when it is withdrawn. */
export async function lockAnnouncement(tx: Transaction, id: number): Promise<AnnouncementText | undefined> {
  const [row] = await tx<AnnouncementText[]>`
    select title, content, type, starts_at, ends_at from backoffice.announcements
    where id = ${id} and withdrawn_at is null for update`;
  return row;
}

/** Makes other transactions that add announcements wait until this one ends. */
export const lockAnnouncements = (tx: Transaction) =>
  tx`lock table backoffice.announcements in share row exclusive mode`;

/** Adds an announcement. Undefined when the shop has as many as it may have. The caller has locked the table. */
export async function insertAnnouncement(tx: Transaction, text: AnnouncementText): Promise<Announcement | undefined> {
  const { title, content, type, starts_at, ends_at } = text;
  const [added] = await tx<{ id: number }[]>`
    insert into backoffice.announcements (title, content, type, starts_at, ends_at)
    select ${title}, ${content}, ${type}, ${starts_at}::timestamptz, ${ends_at}::timestamptz
    where (select count(*) from backoffice.announcements where withdrawn_at is null) < ${maxAnnouncements}
    returning id`;
  if (!added) return undefined;
  const [row] = await tx<Announcement[]>`select * from (${announcements(tx)}) as a where id = ${added.id}`;
  return row;
}

export async function updateAnnouncement(tx: Transaction, id: number, text: AnnouncementText): Promise<void> {
  const { title, content, type, starts_at, ends_at } = text;
  await tx`
    update backoffice.announcements
    set title = ${title}, content = ${content}, type = ${type}, starts_at = ${starts_at}, ends_at = ${ends_at},
        updated_at = now()
    where id = ${id}`;
}

/** Withdraws announcements. Returns the ids of those that were not withdrawn before. */
export async function withdrawAnnouncements(tx: Queryable, ids: readonly number[]): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    update backoffice.announcements set withdrawn_at = now(), updated_at = now()
    where id = any(${ids as number[]}::bigint[]) and withdrawn_at is null returning id`;
  return rows.map(({ id }) => id);
}

export async function hasAnnouncements(sql: Queryable): Promise<boolean> {
  return (await sql`select id from backoffice.announcements limit 1`).length > 0;
}
