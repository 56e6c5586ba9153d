import { maxShipments, type OrderAdditions, type OrderSection, type ShipmentView } from '@tradepost/orders';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { shipmentView } from './shipment.ts';
import { selectShipments } from './shipment-store.ts';

/** Adds the shipments of an order, newest first, and its latest shipment. Of very many, the first one and the newest are shown. */
export function shipmentSection({ sql, settings }: Pick<Runtime, 'sql' | 'settings'>): OrderSection {
  return {
    async load(orderIds, locale) {
      const zone = settings.get(timeZone);
      const byOrder = new Map<number, ShipmentView[]>();
      for (const shipment of await selectShipments(sql, orderIds, maxShipments)) {
        const list = byOrder.get(shipment.order_id) ?? [];
        list.push(shipmentView(shipment, zone, locale));
        byOrder.set(shipment.order_id, list);
      }
      return new Map(
        [...byOrder].map(([id, shipments]): [number, Partial<OrderAdditions>] => [
          id,
          { shipments, latest_shipment: shipments[0]! },
        ]),
      );
    },
  };
}
