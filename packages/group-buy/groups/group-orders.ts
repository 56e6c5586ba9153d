import {
  lockOrdersForAfterSale,
  type OrderWithLines,
  orderStatus,
  selectOpenOrdersOfRow,
  selectRefundable,
} from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import type { Group } from '../group.ts';
import { maxReadOrders } from '../limits.ts';
import { selectOrdersInGroups } from './group-store.ts';

type Offer = Pick<Group, 'activity_product_id' | 'sku_id'>;
const open: readonly number[] = [orderStatus.pendingPayment, orderStatus.paid];

export const canBeInGroup = ({ is_imported, status }: OrderWithLines): boolean => !is_imported && open.includes(status);

/** Whether an order has a line of what a group is about. `sku_id` 0 is any SKU of the product. */
export const hasOffer = (order: OrderWithLines, { activity_product_id, sku_id }: Offer): boolean =>
  order.items.some(
    (line) => line.activity_product_id === activity_product_id && (sku_id === 0 || line.sku_id === sku_id),
  );

/**
 * The order that a shopper has placed already for a group that is about to be opened: not shipped, not refunded, in no group. The
 * paid ones come first, then the newest. It is locked.
 */
export async function lockOrderFor(
  tx: Transaction,
  of: Offer & { user_id: number },
  now: Date,
): Promise<number | null> {
  const ids = await selectOpenOrdersOfRow(tx, of, { now, limit: maxReadOrders });
  if (ids.length === 0) return null;
  const orders = new Map((await lockOrdersForAfterSale(tx, ids)).map((order) => [order.id, order]));
  const [taken, money] = await Promise.all([selectOrdersInGroups(tx, ids), selectRefundable(tx, ids)]);
  const free = ids.find((id) => {
    const order = orders.get(id);
    // A partly refunded order cannot be refunded in full when the group fails.
    return order && canBeInGroup(order) && !taken.has(id) && money.get(id)!.refunded === 0;
  });
  return free ?? null;
}
