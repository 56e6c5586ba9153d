import type { EventReader } from '@tradepost/runtime';
import { markOrders } from './day-store.ts';

/**
 * The events after which the numbers of an order's day have changed. `order.placed` is among them for orders that commit after the
 * end of their day.
 */
export const orderChanges = [
  'order.placed',
  'order.paid',
  'order.cancelled',
  'order.refunded',
  'order.after_sale_ended',
] as const;

/** Records the hours of changed orders. The job counts their days again. */
export const changedDaysReader: EventReader = {
  name: 'analytics',
  kinds: orderChanges,
  async read(tx, events) {
    const ids = events.flatMap(({ data }) => (typeof data.order_id === 'number' ? [data.order_id] : []));
    if (ids.length > 0) await markOrders(tx, [...new Set(ids)]);
  },
};
