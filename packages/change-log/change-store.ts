import type { Paging } from '@tradepost/core';
import { plannedByValue, type Queryable, type Sql } from '@tradepost/postgres';
import type { Change } from './change.ts';
import { mostCounted, mostSearched } from './limits.ts';

/** Absent filters match all changes. `from` is included, `before` is not. */
export type ChangeFilter = {
  staff_id?: number | undefined;
  source?: string | undefined;
  table?: string | undefined;
  row_id?: string | undefined;
  action?: string | undefined;
  operation?: string | undefined;
  request_id?: string | undefined;
  keyword?: string | undefined;
  from?: Date | undefined;
  before?: Date | undefined;
};

const columns = (sql: Queryable) => sql`
  id, at, source, staff_id, actor_name, address, request_id, action, table_name, row_id, operation, before, after`;

const contains = (keyword: string) => `%${keyword.replace(/[\\%_]/g, '\\$&')}%`;

/** The watched tables with this name, with or without the schema. */
const tablesNamed = (sql: Queryable, name: string) => sql`
  array(select table_name from change_log.watched_tables where ${name} in (table_name, split_part(table_name, '.', 2)))`;

/** The changes that match, without order. A keyword is searched in a bounded number of the newest ones. */
function matching(sql: Queryable, filter: ChangeFilter) {
  const { staff_id, source, table, row_id, action, operation, request_id, keyword, from, before } = filter;
  const rows = sql`
    select * from change_log.changes where true
    ${staff_id === undefined ? sql`` : sql`and staff_id = ${staff_id}`}
    ${source === undefined ? sql`` : sql`and source = ${source}`}
    ${table === undefined ? sql`` : sql`and table_name = any(${tablesNamed(sql, table)})`}
    ${row_id === undefined ? sql`` : sql`and row_id = ${row_id}`}
    ${action === undefined ? sql`` : sql`and action = ${action}`}
    ${operation === undefined ? sql`` : sql`and operation = ${operation}`}
    ${request_id === undefined ? sql`` : sql`and request_id = ${request_id}`}
    ${from === undefined ? sql`` : sql`and at >= ${from}`}
    ${before === undefined ? sql`` : sql`and at < ${before}`}`;
  if (keyword === undefined) return rows;
  const sought = contains(keyword);
  return sql`
    select * from (${rows} order by at desc, id desc limit ${mostSearched}) as newest
    where row_id = ${keyword} or actor_name ilike ${sought} or action ilike ${sought}
       or before::text ilike ${sought} or after::text ilike ${sought}`;
}

/** One page, the newest change first. `total` is at most `mostCounted`. */
export async function selectChanges(
  sql: Sql,
  filter: ChangeFilter,
  { size, offset }: Pick<Paging, 'size' | 'offset'>,
): Promise<{ rows: Change[]; total: number }> {
  // Pages beyond the count are empty, so that an offset is never large.
  const limit = Math.max(0, Math.min(size, mostCounted - offset));
  const rows = await plannedByValue(sql<(Change & { total: number })[]>`
    with page as (
      select ${columns(sql)} from (${matching(sql, filter)}) as c
      order by at desc, id desc limit ${limit} offset ${Math.min(offset, mostCounted)}
    ), counted as (
      select count(*)::int as total from (select from (${matching(sql, filter)}) as c limit ${mostCounted}) as bounded
    )
    select page.*, counted.total from counted left join page on true order by page.at desc, page.id desc`);
  return {
    rows: rows.flatMap(({ total: _, ...row }) => (row.id === null ? [] : [row])),
    total: rows[0]?.total ?? 0,
  };
}

/**
 * The changes that come after this one in the order of the list, at most `limit`. `at_text` has the microseconds, which a Date
 * has not.
 */
export async function selectOlderChanges(
  sql: Sql,
  filter: ChangeFilter,
  after: { at_text: string; id: number } | null,
  limit: number,
): Promise<(Change & { at_text: string })[]> {
  return plannedByValue(sql<(Change & { at_text: string })[]>`
    select ${columns(sql)}, at::text as at_text from (${matching(sql, filter)}) as c
    where ${after === null ? sql`true` : sql`(at, id) < (${after.at_text}::text::timestamptz, ${after.id})`}
    order by at desc, id desc limit ${limit}`);
}

/** The watched tables whose trigger is missing or disabled. */
export async function selectUnwatchedTables(sql: Sql): Promise<string[]> {
  const rows = await sql<{ table_name: string }[]>`
    select table_name from change_log.watched_tables
    where not exists (
      select from pg_trigger
      where tgrelid = to_regclass(table_name) and tgname = 'change_log' and tgenabled in ('O', 'A'))
    order by table_name`;
  return rows.map((row) => row.table_name);
}
