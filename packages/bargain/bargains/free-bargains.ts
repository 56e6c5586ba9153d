import { orderStatus } from '@tradepost/orders';
import type { EventReader } from '@tradepost/runtime';
import { z } from 'zod';
import { freeBought } from './purchase-store.ts';

const ended = z.object({ order_id: z.number(), status: z.number() });
/** Makes the bargains of orders that an after-sale refunded in full before the shipment buyable again. A repeat changes nothing. */
export const freeReader: EventReader = {
  name: 'bargain.free',
  kinds: ['order.after_sale_ended'],
  async read(tx, events) {
    const orders = events.map(({ data }) => ended.parse(data)).filter(({ status }) => status === orderStatus.cancelled);
    if (orders.length > 0)
      await freeBought(
        tx,
        orders.map(({ order_id }) => order_id),
      );
  },
};
