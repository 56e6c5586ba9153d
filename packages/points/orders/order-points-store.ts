import type { Queryable, Statement, Transaction } from '@tradepost/postgres';

/** What an order used and earned. */
export type OrderPoints = {
  order_id: number;
  user_id: number;
  used: number;
  returned: number;
  /** What the order deserves now; null before its completion. */
  earned: number | null;
  earn_rate: number | null;
  /** Of an order that cost 0.00: the goods amount that each refunded case returned. */
  returned_goods: Readonly<Record<string, number>>;
};

export async function selectOrderPoints(sql: Queryable, orderIds: readonly number[]): Promise<OrderPoints[]> {
  return sql<OrderPoints[]>`
    select order_id, user_id, used, returned, earned, earn_rate, returned_goods from points.order_points
    where order_id = any(${[...orderIds]}::bigint[]) order by order_id`;
}

/** Records what new orders use. Their rows in the ledger are written beside it. */
export const insertUses = (
  tx: Transaction,
  uses: readonly { order_id: number; user_id: number; points: number }[],
): Statement => tx`
  insert into points.order_points (order_id, user_id, used)
  select order_id, user_id, points
  from unnest(${uses.map((u) => u.order_id)}::bigint[], ${uses.map((u) => u.user_id)}::bigint[],
              ${uses.map((u) => u.points)}::bigint[]) as u (order_id, user_id, points)`;

/** How many of its points an order shall have returned in all. Null: all that it used. */
export type ReturnTarget = { readonly order_id: number; readonly total: number | null };

/**
 * Returns points of orders up to these totals, with rows of the ledger. An order that has returned as many already is left as it
 * is, so a repeat changes nothing. The accounts are locked by an earlier statement.
 */
export const returnPoints = (tx: Transaction, targets: readonly ReturnTarget[], now: Date): Statement => tx`
  with due as materialized (
    select p.order_id, p.user_id, p.returned, least(p.used, coalesce(t.total, p.used)) as total
    from points.order_points p
    join unnest(${targets.map((t) => t.order_id)}::bigint[], ${targets.map((t) => t.total)}::bigint[]) as t (order_id, total)
      using (order_id)
    where p.returned < least(p.used, coalesce(t.total, p.used))
  ), raised as (
    update points.order_points p set returned = due.total from due where p.order_id = due.order_id
  ), added as (
    insert into points.logs (user_id, type, points, related_id, cause, created_at)
    select user_id, 2, total - returned, order_id, 'order:' || order_id || ':returned:' || total, ${now} from due
    order by order_id
    returning user_id, points
  )
  update points.accounts a set balance = a.balance + s.points
  from (select user_id, sum(points)::bigint as points from added group by user_id) as s where a.user_id = s.user_id`;

export type Earned = { order_id: number; user_id: number; earned: number; earn_rate: number };

/** Records what completed orders deserve. An order that has it already is left as it is. Returns the orders that are new. */
export async function insertEarned(tx: Transaction, rows: readonly Earned[]): Promise<Set<number>> {
  const written = await tx<{ order_id: number }[]>`
    insert into points.order_points as p (order_id, user_id, earned, earn_rate)
    select order_id, user_id, earned, earn_rate
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as e (order_id bigint, user_id bigint, earned bigint,
      earn_rate integer)
    order by order_id
    on conflict (order_id) do update set earned = excluded.earned, earn_rate = excluded.earn_rate where p.earned is null
    returning order_id`;
  return new Set(written.map(({ order_id }) => order_id));
}

/** Lowers what orders deserve, after refunds. */
export const lowerEarned = (tx: Transaction, rows: readonly { order_id: number; earned: number }[]): Statement => tx`
  update points.order_points p set earned = e.earned
  from unnest(${rows.map((r) => r.order_id)}::bigint[], ${rows.map((r) => r.earned)}::bigint[]) as e (order_id, earned)
  where p.order_id = e.order_id and p.earned > e.earned`;

/** Records the goods amounts that cases of orders of 0.00 returned. A repeat of a case replaces its amount. */
export const addReturnedGoods = (
  tx: Transaction,
  rows: readonly { order_id: number; goods: Readonly<Record<string, number>> }[],
): Statement => tx`
  update points.order_points p set returned_goods = p.returned_goods || g.goods
  from json_to_recordset(${JSON.stringify(rows)}::text::json) as g (order_id bigint, goods jsonb)
  where p.order_id = g.order_id`;
