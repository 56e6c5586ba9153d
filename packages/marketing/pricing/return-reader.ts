import { orderStatus } from '@tradepost/orders';
import type { EventReader, Runtime } from '@tradepost/runtime';
import { markReturned } from './use-store.ts';

/**
 * Returns the coupons of orders that were refunded in full before shipment to their shoppers. Other cancelled orders have returned theirs
 * in the transaction of the cancellation.
 */
export const returnReader = ({ now }: Pick<Runtime, 'now'>): EventReader => ({
  name: 'marketing.return_coupons',
  kinds: ['order.after_sale_ended', 'order.cancelled'],
  async read(tx, events) {
    const ended = events.filter(
      ({ name, data }) => name === 'order.cancelled' || data.status === orderStatus.cancelled,
    );
    const ids = ended.map(({ data }) => data.order_id as number);
    if (ids.length > 0) await markReturned(tx, ids, now());
  },
});
