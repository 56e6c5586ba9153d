import type { Transaction } from '@tradepost/postgres';
import { asError, orderErrors } from '../../errors.ts';
import type { OrderItem } from '../../orders/order.ts';
import { isPayable } from '../../orders/order-status.ts';
import { selectOrderItems } from '../../orders/order-store.ts';
import { type NewAmounts, type PriceChange, repricedAmounts, repricedDiscounts } from './reprice-rules.ts';
import {
  lockOrders,
  type PriceChangeRow,
  type PricedOrder,
  selectAgreedDiscounts,
  updatePrices,
} from './reprice-store.ts';

export type RepriceOrder = { order_id: number; change: PriceChange };

/** The new amounts with the parts of the discounts, of the order and of its lines. */
function withDiscounts(order: PricedOrder, own: readonly OrderItem[], { lines, ...amounts }: NewAmounts) {
  return {
    now: { ...amounts, discounts: repricedDiscounts(order.discounts, amounts.discount_amount) },
    now_lines: lines.map((line, index) => {
      const { discounts, qty } = own[index]!;
      return { ...line, discounts: repricedDiscounts(discounts, line.price * qty - line.payable_amount) };
    }),
  };
}

/**
 * Changes the prices of unpaid orders and records who did it, in the transaction of the caller: under the locks of the orders, in
 * four statements. Each order occurs once. A concurrent payment either commits first, and the change is refused, or it pays the
 * new amount. Stock is not changed. Returns for each order its new amounts or its refusal.
 */
export async function repriceOrders(
  tx: Transaction,
  requests: readonly RepriceOrder[],
  by: { staff_id: number; remark: string; now: Date },
): Promise<(NewAmounts | Error)[]> {
  const orders = new Map(
    (
      await lockOrders(
        tx,
        requests.map((request) => request.order_id),
      )
    ).map((order) => [order.id, order]),
  );
  const open = [...orders.values()].filter((order) => isPayable(order, by.now)).map((order) => order.id);
  const lines = new Map<number, OrderItem[]>(open.map((id) => [id, []]));
  const [items, agreed] =
    open.length > 0
      ? await Promise.all([selectOrderItems(tx, open), selectAgreedDiscounts(tx, open)])
      : [[], new Map<number, number>()];
  for (const item of items) lines.get(item.order_id)?.push(item);
  const changes: PriceChangeRow[] = [];
  const outcomes = requests.map(({ order_id, change }): NewAmounts | Error => {
    const order = orders.get(order_id);
    if (!order) return orderErrors.order_not_found();
    const own = lines.get(order_id);
    if (!own) return orderErrors.cannot_reprice();
    try {
      const agreed_discount = agreed.get(order_id) ?? order.discount_amount;
      const amounts = repricedAmounts({ ...order, agreed_discount }, own, change);
      const changed = own.flatMap((line, index) => {
        const { price } = amounts.lines[index]!;
        return price === line.price ? [] : [{ item_id: line.id, old_price: line.price, price }];
      });
      changes.push({ order, ...withDiscounts(order, own, amounts), lines: changed });
      return amounts;
    } catch (thrown) {
      return asError(thrown);
    }
  });
  if (changes.length > 0) await updatePrices(tx, changes, by);
  return outcomes;
}
