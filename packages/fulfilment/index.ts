import type { Module } from '@tradepost/http';
import type { OrderSections, ShipmentView } from '@tradepost/orders';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { fulfilmentRoutes } from './routes.ts';
import { shipmentView } from './shipment.ts';
import { selectShipments } from './shipment-store.ts';

export { fulfilmentAudits } from './fulfilment-audits.ts';
export { shippedWith } from './shipment-store.ts';

/** The shipments part of an order's answer. */
export function shipmentSection(runtime: Runtime): NonNullable<OrderSections['shipments']> {
  return async (orderIds, locale) => {
    const zone = runtime.settings.get(timeZone);
    const byOrder = new Map<number, ShipmentView[]>();
    for (const shipment of await selectShipments(runtime.sql, orderIds)) {
      const list = byOrder.get(shipment.order_id) ?? [];
      list.push(shipmentView(shipment, zone, locale));
      byOrder.set(shipment.order_id, list);
    }
    return byOrder;
  };
}

export function fulfilmentModule(runtime: Runtime): Module {
  return { name: 'fulfilment', routes: fulfilmentRoutes(runtime) };
}
