import type { CaseLine, Inventory } from '@tradepost/inventory';
import { defineService } from '@tradepost/module';
import type { Transaction } from '@tradepost/postgres';
import type { PricePipeline } from '@tradepost/pricing';
import type { Runtime } from '@tradepost/runtime';
import { factsOf, orderCancelled, recordOrders } from '../order-events.ts';
import { orderStatus } from '../orders/order-status.ts';
import { usedBy } from '../orders/settle-orders.ts';
import { refundOrders } from '../payments/refund-orders.ts';
import { refundAttempts } from '../settings.ts';
import { updateOrderStatuses } from './move-orders-store.ts';
import { type OrderLine, selectOrderLines } from './order-lines-store.ts';

type Deps = {
  runtime: Pick<Runtime, 'settings'>;
  inventory: Pick<Inventory, 'restore'>;
  pipeline: Pick<PricePipeline, 'release'>;
};

/** The pieces of each SKU, with the warehouse of its first line. */
function goodsOf(items: readonly OrderLine[]): CaseLine[] {
  const bySku = new Map<number, CaseLine>();
  for (const { sku_id, warehouse_id, qty } of items)
    bySku.set(sku_id, { sku_id, warehouse_id, qty: qty + (bySku.get(sku_id)?.qty ?? 0) });
  return [...bySku.values()];
}

/**
 * Cancels paid orders that were not shipped (2 -> 6) because their group failed: refunds all that was paid, brings the goods back
 * into stock, and releases coupons, points and pieces of activities. Locks orders, payments, stock. A fixed number of statements.
 * Returns the ids of the orders that moved; orders in other states are left as they are.
 */
async function cancelPaidOrders(
  tx: Transaction,
  { runtime, inventory, pipeline }: Deps,
  orderIds: readonly number[],
  now: Date,
): Promise<number[]> {
  const moves = [...new Set(orderIds)].map((order_id) => ({
    ...{ order_id, to: orderStatus.cancelled, trigger: 'group_failed' as const },
  }));
  const by = { actor: { type: 'system' as const, id: 0 }, now };
  const orders = await updateOrderStatuses(tx, moves, [orderStatus.paid], by);
  if (orders.length === 0) return [];
  const ids = orders.map(({ id }) => id);
  const lines = await selectOrderLines(tx, ids);
  const refunds = orders.flatMap(({ id, order_no, total_amount }) =>
    total_amount > 0
      ? [{ order_id: id, refund_no: `GF${order_no}`, amount: total_amount, reason: `group_failed:${id}` }]
      : [],
  );
  const outcomes = await refundOrders(tx, refunds, { now, attempts: runtime.settings.get(refundAttempts) });
  const failed = outcomes.findIndex((outcome) => outcome !== true);
  if (failed >= 0) throw new Error(`order ${refunds[failed]!.order_id} cannot be refunded: ${outcomes[failed]}`);
  const goods = lines.map(({ order_no, items }) => ({ biz_no: order_no, lines: goodsOf(items) }));
  const restored = await inventory.restore(tx, goods);
  const facts = orders.map((order) => ({ ...factsOf(order), reason: 'group_failed' as const }));
  await Promise.all([
    ...restored,
    ...pipeline.release(tx, usedBy(orders), now),
    ...recordOrders(tx, orderCancelled, facts, now),
  ]);
  return ids;
}

export type PaidOrders = {
  /** See `cancelPaidOrders`. */
  cancelForFailedGroup(tx: Transaction, orderIds: readonly number[], now: Date): Promise<number[]>;
};

/** What packages above do with paid orders. */
export const paidOrdersService = defineService<PaidOrders>('orders.paid_orders');

export const openPaidOrders = (deps: Omit<Deps, 'pipeline'> & { pipeline: () => Deps['pipeline'] }): PaidOrders => ({
  cancelForFailedGroup: (tx, orderIds, now) =>
    cancelPaidOrders(tx, { ...deps, pipeline: deps.pipeline() }, orderIds, now),
});
