import type { Paging } from '@tradepost/core';
import { plannedByValue, type Queryable } from '@tradepost/postgres';
import type { CheckIn } from '../daily/check-in-store.ts';
import { maxListed } from '../limits.ts';

export type CheckInLog = CheckIn & { user_nickname: string; created_at: Date };

/** A page of the check-ins of all shoppers or of one, newest first. The newest `maxListed` are counted. */
export async function selectCheckIns(
  sql: Queryable,
  userId: number | null,
  paging: Paging,
): Promise<{ rows: CheckInLog[]; total: number }> {
  const matching = sql`from checkin.check_ins ${userId === null ? sql`` : sql`where user_id = ${userId}`}`;
  const size = Math.max(0, Math.min(paging.size, maxListed - paging.offset));
  const rows = await plannedByValue(sql<(CheckInLog & { total: number })[]>`
    with counted as (select count(*)::int as total from (select ${matching} limit ${maxListed}) as listed),
    page as (select * ${matching} order by id desc limit ${size} offset ${Math.min(paging.offset, maxListed)})
    select counted.total, page.id, page.user_id, page.date::text, page.consecutive_days, page.points, page.created_at,
           coalesce(u.nickname, '') as user_nickname
    from counted left join page on true left join identity.shopper_names u on u.id = page.user_id
    order by page.id desc`);
  return { rows: rows.filter(({ id }) => id !== null), total: rows[0]?.total ?? 0 };
}
