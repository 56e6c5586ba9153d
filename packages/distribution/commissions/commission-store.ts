import type { Paging } from '@tradepost/core';
import { countedPage, plannedByValue, type Queryable, type Statement, type Transaction } from '@tradepost/postgres';
import type { Commission } from './commission.ts';

const columns = (sql: Queryable): Statement => sql`
  c.id, c.order_id, c.distributor_id, c.level, c.order_amount, c.refunded_amount, c.rate, c.commission, c.status, c.settled_at,
  c.cancelled_at, c.created_at`;

/** An active distributor above a buyer. `level` 1 is the nearest. */
export type Upline = { readonly distributor_id: number; readonly level: number };

/** The active distributors at most `levels` above these buyers, the nearest first. A disabled one counts as a level. */
export async function selectUplines(
  sql: Queryable,
  buyerIds: readonly number[],
  levels: number,
): Promise<Map<number, Upline[]>> {
  const rows = await sql<(Upline & { buyer_id: number })[]>`
    with recursive upline (buyer_id, level, distributor_id, status, parent_id) as (
      select u.buyer_id, 1, p.id, p.status, p.parent_id
      from unnest(${[...new Set(buyerIds)]}::bigint[]) as u (buyer_id)
      left join distribution.distributors own on own.user_id = u.buyer_id
      left join distribution.bindings b on b.user_id = u.buyer_id and own.id is null
      join distribution.distributors p on p.id = coalesce(own.parent_id, b.distributor_id)
      union all
      select c.buyer_id, c.level + 1, p.id, p.status, p.parent_id
      from upline c join distribution.distributors p on p.id = c.parent_id
      where c.level < ${levels})
    select buyer_id, level, distributor_id from upline where status = 'active' order by level`;
  return Map.groupBy(rows, ({ buyer_id }) => buyer_id);
}

export type NewCommission = Pick<Commission, 'order_id' | 'distributor_id' | 'level' | 'rate' | 'commission'> & {
  readonly buyer_id: number;
  readonly order_amount: number;
};

export const insertCommissions = (tx: Transaction, rows: readonly NewCommission[], now: Date): Statement => tx`
  insert into distribution.commissions (order_id, buyer_id, distributor_id, level, order_amount, rate, commission, created_at,
    updated_at)
  select order_id, buyer_id, distributor_id, level, order_amount, rate, commission, ${now}, ${now}
  from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (order_id bigint, buyer_id bigint, distributor_id bigint,
    level integer, order_amount bigint, rate integer, commission bigint)
  on conflict (order_id, distributor_id) do nothing`;

/** Cancels the commissions of unpaid orders. They have moved no money. */
export const cancelCandidates = (tx: Transaction, orderIds: readonly number[], now: Date): Statement => tx`
  update distribution.commissions c set status = 'cancelled', cancelled_at = ${now}, updated_at = ${now}
  from (select id from distribution.commissions
        where order_id = any(${[...orderIds]}::bigint[]) and status in ('candidate', 'pending') order by id for update) as open
  where c.id = open.id`;

/** Locks the commissions of these orders in the order of their ids. */
export async function lockCommissionsOf(tx: Transaction, orderIds: readonly number[]): Promise<Commission[]> {
  return tx<Commission[]>`
    select ${columns(tx)} from distribution.commissions c
    where c.order_id = any(${[...new Set(orderIds)]}::bigint[]) order by c.id for update`;
}

export async function lockCommission(tx: Transaction, id: number): Promise<Commission | undefined> {
  const [row] = await tx<Commission[]>`
    select ${columns(tx)} from distribution.commissions c where c.id = ${id} for update`;
  return row;
}

/** Writes what the desk changed of locked commissions. */
export async function updateCommissions(tx: Transaction, rows: readonly Commission[], now: Date): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    update distribution.commissions c
    set order_amount = n.order_amount, refunded_amount = n.refunded_amount, commission = n.commission, status = n.status,
        settled_at = n.settled_at, cancelled_at = n.cancelled_at, updated_at = ${now}
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as n (id bigint, order_amount bigint, refunded_amount bigint,
      commission bigint, status text, settled_at timestamptz, cancelled_at timestamptz)
    where c.id = n.id`;
}

export type RefundOfCase = { readonly case_id: number; readonly order_id: number; readonly amount: number };

/** Records refunds. Returns the ids of the cases that were not known. */
export async function insertRefunds(tx: Transaction, refunds: readonly RefundOfCase[], now: Date): Promise<number[]> {
  if (refunds.length === 0) return [];
  const rows = await tx<{ case_id: number }[]>`
    insert into distribution.refunds (case_id, order_id, amount, created_at)
    select case_id, order_id, amount, ${now}
    from json_to_recordset(${JSON.stringify(refunds)}::text::json) as r (case_id bigint, order_id bigint, amount bigint)
    on conflict (case_id) do nothing returning case_id`;
  return rows.map(({ case_id }) => case_id);
}

/** Null or absent: any. */
export type CommissionFilter = {
  readonly id?: number;
  readonly statuses?: readonly Commission['status'][] | null;
  readonly distributor_id?: number | null;
  readonly levels?: readonly number[] | null;
};

/** A page of commissions, the newest first. */
export async function selectCommissions(
  sql: Queryable,
  { id, statuses, distributor_id, levels }: CommissionFilter,
  { size, offset }: Pick<Paging, 'size' | 'offset'>,
): Promise<{ rows: Commission[]; total: number }> {
  const found = sql`
    from distribution.commissions c
    where true ${id === undefined ? sql`` : sql`and c.id = ${id}`}
      ${statuses ? sql`and c.status = any(${[...statuses]}::text[])` : sql``}
      ${distributor_id ? sql`and c.distributor_id = ${distributor_id}` : sql``}
      ${levels ? sql`and c.level = any(${[...levels]}::integer[])` : sql``}`;
  const rows = await plannedByValue(sql<(Commission & { total_found: number })[]>`
    with counted as (select count(*)::int as total_found ${found}),
    page as (select ${columns(sql)} ${found} order by c.id desc limit ${size} offset ${offset})
    select counted.total_found, page.* from counted left join page on true order by page.id desc`);
  return countedPage<Commission>(rows);
}
