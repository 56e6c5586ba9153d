import type { Statement, Transaction } from '@tradepost/postgres';
import type { Order } from '../../orders/order.ts';
import type { NewAmounts } from './reprice-rules.ts';

export type PricedOrder = Pick<
  Order,
  'id' | 'status' | 'expires_at' | 'goods_amount' | 'discount_amount' | 'freight_amount' | 'total_amount' | 'discounts'
>;

/** Locks these orders in id order, in any state. A payment of them waits for this transaction, or was committed before. */
export async function lockOrders(tx: Transaction, ids: readonly number[]): Promise<PricedOrder[]> {
  return tx<PricedOrder[]>`
    select id, status, expires_at, goods_amount, discount_amount, freight_amount, total_amount, discounts
    from orders.orders where id = any(${[...ids]}::bigint[]) order by id for no key update`;
}

/**
 * The discounts of repriced orders at the time of the order, without the cents that a later change rounded into them. Call it in
 * a later statement than the lock of the orders: the lock waits for another change, and its own statement does not see that change.
 */
export async function selectAgreedDiscounts(tx: Transaction, ids: readonly number[]): Promise<Map<number, number>> {
  const rows = await tx<{ order_id: number; discount: number }[]>`
    select distinct on (order_id) order_id, old_discount_amount as discount from orders.price_changes
    where order_id = any(${[...ids]}::bigint[]) order by order_id, id`;
  return new Map(rows.map((row) => [row.order_id, row.discount]));
}

export type PriceChangeRow = {
  order: PricedOrder;
  now: Omit<NewAmounts, 'lines'> & Pick<PricedOrder, 'discounts'>;
  /** All lines of the order. */
  now_lines: (NewAmounts['lines'][number] & Pick<PricedOrder, 'discounts'>)[];
  /** The lines whose price changed. */
  lines: { item_id: number; old_price: number; price: number }[];
};

/** Updates orders and lines and records the change, in one statement. The orders are locked by the caller. */
export function updatePrices(
  tx: Transaction,
  changes: readonly PriceChangeRow[],
  by: { staff_id: number; remark: string; now: Date },
): Statement {
  const orders = changes.map(({ order, now, lines }) => ({
    order_id: order.id,
    old_goods_amount: order.goods_amount,
    old_discount_amount: order.discount_amount,
    old_total_amount: order.total_amount,
    goods_amount: now.goods_amount,
    discount_amount: now.discount_amount,
    total_amount: now.total_amount,
    discounts: now.discounts,
    lines,
  }));
  const lines = changes.flatMap((change) => change.now_lines);
  return tx`
    with changed as (
      select * from json_to_recordset(${JSON.stringify(orders)}::text::json) as c (order_id bigint, old_goods_amount bigint,
        old_discount_amount bigint, old_total_amount bigint, goods_amount bigint, discount_amount bigint,
        total_amount bigint, discounts jsonb, lines jsonb)
    ), lines as (
      update orders.order_items i set price = l.price, payable_amount = l.payable_amount, discounts = l.discounts
      from json_to_recordset(${JSON.stringify(lines)}::text::json) as l (id bigint, price bigint,
        payable_amount bigint, discounts jsonb)
      where i.id = l.id
    ), log as (
      insert into orders.price_changes (order_id, staff_id, remark, old_goods_amount, old_discount_amount, old_total_amount,
        goods_amount, discount_amount, total_amount, lines, created_at)
      select order_id, ${by.staff_id}, ${by.remark}, old_goods_amount, old_discount_amount, old_total_amount, goods_amount,
        discount_amount, total_amount, lines, ${by.now}
      from changed order by order_id
    )
    update orders.orders o
    set goods_amount = c.goods_amount, discount_amount = c.discount_amount, total_amount = c.total_amount,
        discounts = c.discounts, updated_at = ${by.now}
    from changed c where o.id = c.order_id`;
}
