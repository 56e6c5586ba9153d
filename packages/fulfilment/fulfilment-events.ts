import type { ShippedOrder } from '@tradepost/orders';
import { defineEvent } from '@tradepost/runtime';
import { z } from 'zod';
import type { Parcel } from './shipments/parcel.ts';

const parcelFacts = z.object({
  order_id: z.number(),
  order_no: z.string(),
  user_id: z.number().describe('the shopper'),
  shipment_id: z.number(),
  delivery_type: z.enum(['express', 'local']),
  company: z.string().describe('the code of the carrier; empty for a local delivery'),
  tracking_no: z.string(),
});
export type ParcelFacts = z.infer<typeof parcelFacts>;

const shippedEvent = (name: string, about: string) =>
  defineEvent({ name, about, data: parcelFacts, subject: ({ order_id }) => `order:${order_id}` });

const orderShipped = shippedEvent('order.shipped', 'a paid order was shipped');
const orderReshipped = shippedEvent('order.reshipped', 'the goods of an exchange were shipped');

export const shipmentEvents = [orderShipped, orderReshipped];
export const shippedEventOf = { initial: orderShipped, reship: orderReshipped };

/** The facts of parcels of these orders; `ids` are their shipments. */
export function shippedFacts(
  shipped: readonly ShippedOrder[],
  parcels: readonly (Parcel & { readonly order_id: number })[],
  ids: readonly number[],
): ParcelFacts[] {
  const orders = new Map(shipped.map((order) => [order.id, order]));
  return parcels.map(({ order_id, delivery_type, company, tracking_no }, index) => {
    const { order_no, user_id } = orders.get(order_id)!;
    const local = delivery_type === 'local';
    return {
      ...{ order_id, order_no, user_id, shipment_id: ids[index]!, delivery_type },
      ...(local ? { company: '', tracking_no: '' } : { company, tracking_no }),
    };
  });
}
