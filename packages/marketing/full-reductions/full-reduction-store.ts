import type { Paging } from '@tradepost/core';
import type { Queryable, Transaction } from '@tradepost/postgres';
import { endedUpTo, validNow } from '../validity.ts';
import type { FullReduction, FullReductionFields } from './full-reduction.ts';

const columns = (sql: Queryable) => sql`id, name, start_at, end_at, tiers, status, created_at, updated_at`;
const likeText = (text: string) => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

/** A page of the full reductions, newest first. */
export async function selectFullReductions(
  sql: Queryable,
  { keyword, status }: { keyword: string; status: number | null },
  paging: Paging,
): Promise<{ rows: FullReduction[]; total: number }> {
  const rows = await sql<(FullReduction & { total: number })[]>`
    with matching as (
      select ${columns(sql)} from marketing.full_reductions
      where ${status === null ? sql`true` : sql`status = ${status}`}
        ${keyword === '' ? sql`` : sql`and name ilike ${likeText(keyword)}`}
    ), page as (select * from matching order by id desc limit ${paging.size} offset ${paging.offset})
    select counted.total, page.* from (select count(*)::int as total from matching) as counted
    left join page on true order by page.id desc`;
  return {
    rows: rows.filter(({ id }) => id !== null).map(({ total: _total, ...row }) => row),
    total: rows[0]?.total ?? 0,
  };
}

/** The full reductions that run now, by id. */
export const selectRunning = (sql: Queryable, now: Date) =>
  sql<Pick<FullReduction, 'id' | 'name' | 'tiers'>[]>`
    select id, name, tiers from marketing.full_reductions where status = 1 and ${validNow(sql, now)} order by id`;

/** Makes other transactions that write full reductions wait until this one ends. Orders do not wait. */
export const lockFullReductions = (tx: Transaction) =>
  tx`select pg_advisory_xact_lock(hashtextextended('marketing.full_reductions', 0))`;

/** All full reductions, and those that are enabled and have not ended. */
export async function countFullReductions(sql: Queryable, now: Date): Promise<{ all: number; enabled: number }> {
  const [row] = await sql<{ all: number; enabled: number }[]>`
    select count(*)::int as all,
           count(*) filter (where status = 1 and (end_at is null or end_at > ${endedUpTo(now)}))::int as enabled
    from marketing.full_reductions`;
  return row!;
}

export async function selectFullReduction(sql: Queryable, id: number): Promise<FullReduction | undefined> {
  const [row] = await sql<FullReduction[]>`select ${columns(sql)} from marketing.full_reductions where id = ${id}`;
  return row;
}

export async function insertFullReduction(
  tx: Transaction,
  { name, start_at, end_at, tiers, status }: FullReductionFields,
  now: Date,
): Promise<FullReduction> {
  const [row] = await tx<FullReduction[]>`
    insert into marketing.full_reductions (name, start_at, end_at, tiers, status, created_at, updated_at)
    values (${name}, ${start_at}, ${end_at}, ${JSON.stringify(tiers)}::text::jsonb, ${status}, ${now}, ${now})
    returning ${columns(tx)}`;
  return row!;
}

export async function updateFullReduction(
  tx: Transaction,
  id: number,
  { name, start_at, end_at, tiers, status }: FullReductionFields,
  now: Date,
): Promise<void> {
  await tx`
    update marketing.full_reductions
    set name = ${name}, start_at = ${start_at}, end_at = ${end_at}, tiers = ${JSON.stringify(tiers)}::text::jsonb,
        status = ${status}, updated_at = ${now}
    where id = ${id}`;
}

/** Returns the ids of those that existed. */
export async function deleteFullReductions(tx: Transaction, ids: readonly number[]): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    delete from marketing.full_reductions where id = any(${[...ids]}::bigint[]) returning id`;
  return rows.map(({ id }) => id);
}
