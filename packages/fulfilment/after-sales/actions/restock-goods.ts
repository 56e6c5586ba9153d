import type { Transaction } from '@tradepost/postgres';
import { selectCaseGoods } from '../cases/case-goods-store.ts';
import { stockOf } from './case-stock.ts';
import type { LockedCase } from './move-cases.ts';

type Order = LockedCase['order'];
type CaseStock = ReturnType<typeof stockOf>;

/** Counts pieces by order and SKU. */
function pieceCounts() {
  const counts = new Map<string, number>();
  const keyOf = (orderId: number, skuId: number) => `${orderId} ${skuId}`;
  return {
    of: (orderId: number, skuId: number) => counts.get(keyOf(orderId, skuId)) ?? 0,
    add(orderId: number, skuId: number, pieces: number) {
      counts.set(keyOf(orderId, skuId), this.of(orderId, skuId) + pieces);
    },
  };
}

/**
 * The goods of received cases that come into stock: of each SKU of an order at most the pieces that left stock and are not back.
 * A case that was closed after its goods had come into stock does not bring them in again when the buyer applies once more. The
 * orders are locked.
 */
export async function restockedGoods(tx: Transaction, received: readonly LockedCase[]): Promise<CaseStock[]> {
  if (received.length === 0) return [];
  const orders = new Map<number, Order>(received.map(({ order }) => [order.id, order]));
  const away = pieceCounts();
  for (const { id, items } of orders.values()) for (const { sku_id, qty } of items) away.add(id, sku_id, qty);
  for (const { order_id, restored, replaced } of await selectCaseGoods(tx, [...orders.keys()])) {
    const skuOf = new Map(orders.get(order_id)!.items.map((line) => [line.id, line.sku_id]));
    for (const { sku_id, qty } of restored) away.add(order_id, sku_id, -qty);
    for (const { order_item_id, qty } of replaced) away.add(order_id, skuOf.get(order_item_id)!, qty);
  }
  const goods = received.map((found) => {
    const { biz_no, lines } = stockOf(found);
    const back = lines.map((line) => {
      const qty = Math.max(0, Math.min(line.qty, away.of(found.order_id, line.sku_id)));
      away.add(found.order_id, line.sku_id, -qty);
      return { ...line, qty };
    });
    return { biz_no, lines: back.filter(({ qty }) => qty > 0) };
  });
  return goods.filter(({ lines }) => lines.length > 0);
}
