import { markShipped } from '@tradepost/orders';
import type { Runtime } from '@tradepost/runtime';
import { fulfilmentErrors } from './errors.ts';
import { insertInitialShipments } from './shipment-store.ts';

export type ShipOrder = {
  order_id: number;
  delivery_type: 'express' | 'local';
  company: string;
  tracking_no: string;
  rider_name: string;
  rider_phone: string;
  remark: string;
};

/** What a shipment lacks, as a refusal; null when it can go. */
function shipmentRefusal(order: ShipOrder): Error | null {
  if (order.delivery_type === 'express') {
    if (!order.company) return fulfilmentErrors.company_required();
    if (!order.tracking_no) return fulfilmentErrors.tracking_no_required();
    return null;
  }
  if (!order.rider_name) return fulfilmentErrors.rider_name_required();
  if (!order.rider_phone) return fulfilmentErrors.rider_phone_required();
  return null;
}

/** Ships paid orders for the first time: 2 -> 3 and a shipment each. Answers per order true or its refusal. */
export async function shipOrders(
  runtime: Pick<Runtime, 'sql' | 'now'>,
  requests: readonly ShipOrder[],
  staffId: number,
): Promise<(true | Error)[]> {
  const refusals = requests.map(shipmentRefusal);
  // Of two shipments for one order in a batch the first one counts.
  const first = new Map(requests.map((order, index) => [order.order_id, index] as const).reverse());
  const complete = requests
    .filter((order, index) => !refusals[index] && first.get(order.order_id) === index)
    .map((order) => ({ ...order, company: order.company.toUpperCase() }));
  const now = runtime.now();
  const moved = await runtime.sql.begin(async (tx) => {
    const ids = new Set(await markShipped(tx, complete, { actor: { type: 'admin', id: staffId }, now }));
    const shipped = complete.filter((order) => ids.delete(order.order_id));
    if (shipped.length > 0)
      await insertInitialShipments(
        tx,
        shipped.map((order) => ({ ...order, created_by_id: staffId })),
        now,
      );
    return new Set(shipped.map((order) => order.order_id));
  });
  return requests.map((order, index) => {
    const refusal = refusals[index];
    if (refusal) return refusal;
    return moved.delete(order.order_id) ? true : fulfilmentErrors.cannot_ship();
  });
}
