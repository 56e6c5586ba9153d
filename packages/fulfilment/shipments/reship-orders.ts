import { selectOrderStatuses, setTrackingNumbers } from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import type { Write } from '@tradepost/runtime';
import { afterSaleErrors } from '../after-sales/errors.ts';
import { reshipCases } from '../after-sales/reship-cases.ts';
import { shipmentErrors } from './errors.ts';
import { completeParcel, parcelRefusal } from './parcel.ts';
import { recordShipments, type ShipDeps } from './record-shipments.ts';
import type { ShipOrder } from './ship-orders.ts';

export type ReshipOrder = ShipOrder & { readonly case_id: number };

/**
 * Ships the replacements of exchanges: the case goes on, the goods leave the stock, the order gets a shipment and its
 * tracking number, and keeps its status until the case ends. Each case occurs once in `requests`. An unknown order gets the
 * refusal `order_not_found`, whatever else is wrong. Returns for each request true or its refusal.
 */
export async function reshipOrders(
  deps: ShipDeps,
  requests: readonly ReshipOrder[],
  staffId: number,
  write: Write,
): Promise<(true | Error)[]> {
  const { sql, settings } = deps.runtime;
  const orders = requests.map((order) => completeParcel(order, settings));
  const refusals = orders.map((order) =>
    order.case_id > 0 ? parcelRefusal(order, settings) : shipmentErrors.reship_needs_case(),
  );
  const complete = orders.filter((_, index) => !refusals[index]);
  const refusedCases = new Map<number, Error>();
  const reshipped = complete.length > 0 ? await write((tx) => reship(tx, deps, complete, staffId, refusedCases)) : [];
  const done = new Set(reshipped);
  const refused = orders.filter((order, index) => refusals[index] || !done.has(order.case_id));
  const existing = await selectOrderStatuses(sql, [...new Set(refused.map((order) => order.order_id))]);
  return orders.map(({ order_id, case_id }, index) => {
    const refusal = refusals[index];
    if (!refusal && done.has(case_id)) return true;
    if (!existing.has(order_id)) return shipmentErrors.order_not_found();
    return refusal ?? refusedCases.get(case_id) ?? afterSaleErrors.cannot_reship();
  });
}

/** Returns the ids of the cases that were reshipped, and puts the refusals of the others into `refused`. */
async function reship(
  tx: Transaction,
  deps: ShipDeps,
  orders: readonly ReshipOrder[],
  staff_id: number,
  refused: Map<number, Error>,
): Promise<number[]> {
  const now = deps.runtime.now();
  const cases = orders.map(({ case_id, order_id, company, tracking_no }) => ({
    ...{ case_id, order_id, staff_id },
    ...{ company, tracking_no },
  }));
  const outcomes = await reshipCases(tx, cases, now, deps.inventory);
  const sent = orders.filter((_, index) => outcomes[index] === true);
  outcomes.forEach((outcome, index) => {
    if (outcome !== true) refused.set(orders[index]!.case_id, outcome);
  });
  if (sent.length === 0) return [];
  // Of two cases of one order the last one counts.
  const latest = new Map(sent.map(({ order_id, tracking_no }) => [order_id, tracking_no]));
  const numbers = [...latest].map(([order_id, tracking_no]) => ({ order_id, tracking_no }));
  const shipped = await setTrackingNumbers(tx, numbers, now);
  if (shipped.length < numbers.length) throw new Error('an order with an exchange is in a state without shipments');
  await recordShipments(tx, deps, sent, { biz_type: 'reship', shipped, staff_id });
  return sent.map(({ case_id }) => case_id);
}
