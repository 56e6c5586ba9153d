import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import type { Bargain } from '../bargain.ts';
import { maxReadBargains } from '../limits.ts';

export type BuyableBargain = Pick<Bargain, 'id' | 'owner_id' | 'activity_product_id' | 'sku_id' | 'current_price'>;

/**
 * The bargains of these shoppers for these rows that succeeded and are not bought: of each shopper at most `maxReadBargains`, the
 * oldest first. With `lock` they are locked in id order.
 */
export async function selectBuyable(
  sql: Queryable,
  of: { userIds: readonly number[]; activityProductIds: readonly number[]; lock: boolean },
): Promise<BuyableBargain[]> {
  return sql<BuyableBargain[]>`
    with oldest as materialized (
      -- A limit per shopper: the bargains of one do not hide those of another in the batch.
      select own.id from unnest(${[...of.userIds]}::bigint[]) as u (id) cross join lateral (
        select b.id from bargain.bargains b
        where b.owner_id = u.id and b.status = 'success' and b.order_id is null
          and b.activity_product_id = any(${[...of.activityProductIds]}::bigint[])
        order by b.id limit ${maxReadBargains}) as own
    )
    select id, owner_id, activity_product_id, sku_id, current_price from bargain.bargains
    where id = any(array(select id from oldest)) and status = 'success' and order_id is null
    order by id ${of.lock ? sql`for no key update` : sql``}`;
}

/** Marks locked bargains as bought. */
export const markBought = (tx: Transaction, rows: readonly { bargain_id: number; order_id: number }[]): Statement => tx`
  update bargain.bargains b set order_id = u.order_id
  from unnest(${rows.map((r) => r.bargain_id)}::bigint[], ${rows.map((r) => r.order_id)}::bigint[]) as u (id, order_id)
  where b.id = u.id and b.order_id is null`;

/** Makes the bargains that these orders bought buyable again. */
export const freeBought = (tx: Transaction, orderIds: readonly number[]): Statement => tx`
  with locked as materialized (
    select id from bargain.bargains where order_id = any(${[...orderIds]}::bigint[]) order by id for no key update
  )
  update bargain.bargains b set order_id = null from locked where b.id = locked.id`;
