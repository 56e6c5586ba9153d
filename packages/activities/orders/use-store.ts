import type { Statement, Transaction } from '@tradepost/postgres';

/** Pieces of a row that an order takes. */
export type RowUse = { readonly order_id: number; readonly activity_product_id: number; readonly qty: number };

/** Records what new orders take, and adds it to the sold quantities. The rows are locked. */
export const insertUses = (tx: Transaction, uses: readonly RowUse[], now: Date): Statement => tx`
  with taken as (
    insert into activities.order_uses (order_id, activity_product_id, qty, created_at)
    select order_id, activity_product_id, qty, ${now}
    from unnest(${uses.map((use) => use.order_id)}::bigint[], ${uses.map((use) => use.activity_product_id)}::bigint[],
      ${uses.map((use) => use.qty)}::int[]) as u (order_id, activity_product_id, qty)
    returning activity_product_id, qty)
  update activities.activity_products r set sold_qty = r.sold_qty + sums.qty
  from (select activity_product_id as id, sum(qty)::int as qty from taken group by 1) as sums where r.id = sums.id`;

/**
 * Locks the rows that these orders use, in id order. What orders return changes under this lock only, so it is sent before the
 * statement that returns.
 */
export const lockUsedRows = (tx: Transaction, orderIds: readonly number[]): Statement => tx`
  select id from activities.activity_products
  where id in (select activity_product_id from activities.order_uses where order_id = any(${[...orderIds]}::bigint[]))
  order by id for no key update`;

/** Returns what these orders still use. A repeat changes nothing. Needs `lockUsedRows`. */
export const returnUses = (tx: Transaction, orderIds: readonly number[]): Statement => tx`
  with open as materialized (
    select order_id, activity_product_id, qty - returned_qty as qty from activities.order_uses
    where order_id = any(${[...orderIds]}::bigint[]) and returned_qty < qty),
  returned as (
    update activities.order_uses u set returned_qty = u.qty
    from open where u.order_id = open.order_id and u.activity_product_id = open.activity_product_id
    returning open.activity_product_id, open.qty)
  update activities.activity_products r set sold_qty = r.sold_qty - sums.qty
  from (select activity_product_id as id, sum(qty)::int as qty from returned group by 1) as sums where r.id = sums.id`;

/** Pieces of a row that a refunded after-sale case returns. */
export type CaseReturn = RowUse & { readonly case_id: number };

/**
 * Returns what refunded cases return: at most what their orders still use, and each case once. One entry per case and row. Needs
 * `lockUsedRows`.
 */
export const returnCases = (tx: Transaction, returns: readonly CaseReturn[], now: Date): Statement => tx`
  with given as (
    select distinct on (case_id, activity_product_id) case_id, order_id, activity_product_id, qty
    from json_to_recordset(${JSON.stringify(returns)}::text::json)
      as g (case_id bigint, order_id bigint, activity_product_id bigint, qty int)
    order by case_id, activity_product_id),
  -- Two cases of an order together return no more than the order has.
  counted as (
    insert into activities.case_returns (case_id, activity_product_id, order_id, qty, created_at)
    select case_id, activity_product_id, order_id,
      greatest(0, least(qty, open - (sum(qty) over earlier - qty)))::int, ${now}
    from (
      select g.*, u.qty - u.returned_qty as open
      from given g join activities.order_uses u using (order_id, activity_product_id)
      where not exists (
        select from activities.case_returns c where c.case_id = g.case_id and c.activity_product_id = g.activity_product_id)
    ) as new_ones
    window earlier as (partition by order_id, activity_product_id order by case_id)
    returning activity_product_id, order_id, qty),
  by_use as (select order_id, activity_product_id, sum(qty)::int as qty from counted group by 1, 2),
  returned as (
    update activities.order_uses u set returned_qty = u.returned_qty + b.qty
    from by_use b where u.order_id = b.order_id and u.activity_product_id = b.activity_product_id)
  update activities.activity_products r set sold_qty = r.sold_qty - sums.qty
  from (select activity_product_id as id, sum(qty)::int as qty from by_use group by 1) as sums where r.id = sums.id`;
