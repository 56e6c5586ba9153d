import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import type { Bargain } from '../bargain.ts';
import { maxReadBargains } from '../limits.ts';

export type BuyableBargain = Pick<Bargain, 'id' | 'owner_id' | 'activity_product_id' | 'sku_id' | 'current_price'>;

/** The bargains of these shoppers for these rows that succeeded and are not bought; the oldest first. With `lock` they are locked. */
export async function selectBuyable(
  sql: Queryable,
  of: { userIds: readonly number[]; activityProductIds: readonly number[]; lock: boolean },
): Promise<BuyableBargain[]> {
  return sql<BuyableBargain[]>`
    select id, owner_id, activity_product_id, sku_id, current_price from bargain.bargains
    where owner_id = any(${[...of.userIds]}::bigint[]) and status = 'success' and order_id is null
      and activity_product_id = any(${[...of.activityProductIds]}::bigint[])
    order by id limit ${maxReadBargains * of.userIds.length} ${of.lock ? sql`for no key update` : sql``}`;
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
