import type { Paging } from '@tradepost/core';
import { plannedByValue, type Queryable } from '@tradepost/postgres';
import { maxListed } from '../limits.ts';
import type { PointsLog } from './points-log.ts';

/** Null: any. */
export type LogFilter = { readonly user_id: number | null; readonly type: number | null };

/** One page of the ledger, newest first. The newest `maxListed` rows are counted. One statement. */
export async function selectLogs(
  sql: Queryable,
  { user_id, type }: LogFilter,
  paging: Paging,
): Promise<{ rows: PointsLog[]; total: number }> {
  const matching = sql`
    from points.logs where true ${user_id === null ? sql`` : sql`and user_id = ${user_id}`}
      ${type === null ? sql`` : sql`and type = ${type}`}`;
  const size = Math.max(0, Math.min(paging.size, maxListed - paging.offset));
  const rows = await plannedByValue(sql<(PointsLog & { total: number })[]>`
    with counted as (select count(*)::int as total from (select ${matching} limit ${maxListed}) as listed),
    page as (
      select id, user_id, type, points, related_id, remark, created_at ${matching}
      order by ${user_id !== null ? sql`user_id,` : type !== null ? sql`type,` : sql``} id desc
      limit ${size} offset ${Math.min(paging.offset, maxListed)}
    )
    select counted.total, page.* from counted left join page on true order by page.id desc`);
  return {
    rows: rows.filter((row) => row.id !== null).map(({ total: _total, ...row }) => row),
    total: rows[0]?.total ?? 0,
  };
}
