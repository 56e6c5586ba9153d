import { selectSkusForSale } from '@tradepost/catalog';
import { type Address, selectAddressesOf } from '@tradepost/identity';
import type { Inventory, StockSession } from '@tradepost/inventory';
import { type Queryable, writeTransaction } from '@tradepost/postgres';
import type { PricePipeline } from '@tradepost/pricing';
import type { RecordOutcomes, Runtime } from '@tradepost/runtime';
import { lockCarts } from '../cart/cart-store.ts';
import { asError, orderErrors } from '../errors.ts';
import { factsOf, orderPlaced, recordOrders } from '../order-events.ts';
import type { ExpirySchedule } from '../orders/expire-orders.ts';
import { type Order, orderNumber } from '../orders/order.ts';
import { insertOrders, nextOrderIds } from '../orders/order-store.ts';
import {
  candidatesOf,
  cartsOf,
  draftOrder,
  lineKey,
  type OrderDraft,
  type PlaceOrder,
  type PreReservation,
} from './order-draft.ts';
import type { SoldTitles } from './sold-titles.ts';

export type PlaceDeps = {
  runtime: Pick<Runtime, 'sql' | 'now'>;
  inventory: Inventory;
  pipeline: PricePipeline;
  unpaidMinutes: () => number;
  soldTitles: SoldTitles;
  scheduleExpiry: ExpirySchedule;
};

/**
 * Places many orders in one transaction: BEGIN, then three round trips. The first locks the carts and reads the addresses. The
 * second locks the stock and reads the goods. Then the requests are decided in memory, in order of arrival. The third
 * round trip sends all writes and COMMIT. Returns for each request its order or its refusal.
 */
export async function placeOrders(
  deps: PlaceDeps,
  requests: readonly PlaceOrder[],
  record?: RecordOutcomes<Order>,
): Promise<(Order | Error)[]> {
  const { inventory, runtime, pipeline } = deps;
  const userIds = [...new Set(requests.map((request) => request.user_id))];
  const now = runtime.now();
  const expiresAt = new Date(now.getTime() + deps.unpaidMinutes() * 60_000);
  const outcomes: (Order | Error)[] = [];
  const recorded = await writeTransaction(runtime.sql, async (tx) => {
    const [carts, addresses, ids] = await Promise.all([
      lockCarts(tx, userIds).then(cartsOf),
      addressesOf(tx, requests),
      nextOrderIds(tx, requests.length),
    ]);
    const { skuIds, activityProductIds } = candidatesOf(requests, carts);
    // The stock lock is sent before the reads, so the reads see price changes that were committed while it waited.
    const [stock, skus, prices] = await Promise.all([
      inventory.openStockSession(tx, skuIds),
      selectSkusForSale(tx, skuIds),
      pipeline.load(tx, { requests, userIds, skuIds, activityProductIds, now, lock: true }),
    ]);
    const inventoryStatus = inventory.statusAfter.reserve;
    const placed: OrderDraft[] = [];
    requests.forEach((request, index) => {
      const cart = carts.get(request.user_id) ?? new Map();
      const address = addresses.get(addressKey(request.user_id, request.address_id));
      const { preReservation } = request;
      try {
        const { id, order_no } = preReservation ?? numbered(ids[index]!, now);
        const facts = { id, order_no, address, cart, skus, pipeline, prices, inventoryStatus, expiresAt, now };
        const draft = draftOrder(request, facts);
        if (preReservation && !hasLines(draft, preReservation.lines)) throw orderErrors.cart_changed();
        reserveStock(stock, draft);
        pipeline.take(draft.priced, prices);
        // A later request of the same shopper in this batch must not order these lines again.
        for (const key of draft.usedUp) cart.delete(lineKey(key));
        placed.push(draft);
        outcomes[index] = draft.order;
      } catch (thrown) {
        const refusal = asError(thrown);
        outcomes[index] = refusal;
        if (preReservation) stock.releaseDemand(preReservation.order_no, refusal.message);
      }
    });
    if (placed.length === 0) return { value: [], last: stock.statements() };
    const orders = placed.map((draft) => draft.order);
    const items = placed.flatMap((draft) => draft.items);
    const usedUp = placed.flatMap((draft) => draft.usedUp);
    const records = [deps.scheduleExpiry(tx, expiresAt), deps.soldTitles(tx, items)].filter((each) => each !== null);
    return {
      value: records,
      last: [
        ...stock.statements(),
        insertOrders(tx, orders, items, usedUp),
        ...pipeline.write(tx, placed, now),
        ...recordOrders(tx, orderPlaced, orders.map(factsOf), now),
        ...records.map((each) => each.statement),
        ...(record?.(tx, outcomes) ?? []),
      ],
    };
  });
  for (const each of recorded) each.committed();
  return outcomes;
}

/** The order number of an id. */
export const numbered = (id: number, now: Date) => ({ id, order_no: orderNumber(id, now) });

const hasLines = ({ items }: OrderDraft, lines: PreReservation['lines']) =>
  items.length === lines.length &&
  items.every(({ sku_id, qty }, i) => sku_id === lines[i]!.sku_id && qty === lines[i]!.qty);

/** The key has the shopper, so a request cannot use the address of another shopper in its batch. */
export const addressKey = (userId: number, id: number) => `${userId}/${id}`;

/**
 * The addresses that the requests name, by `addressKey`. An address that does not exist or belongs to another shopper
 * is left out.
 */
export async function addressesOf(sql: Queryable, requests: readonly PlaceOrder[]): Promise<Map<string, Address>> {
  const rows = await selectAddressesOf(
    sql,
    requests.map((r) => r.address_id),
    requests.map((r) => r.user_id),
  );
  return new Map(rows.map((row) => [addressKey(row.user_id, row.id), row]));
}

/** Reserves the stock of the draft and sets the warehouse of each line. Throws a refusal when the stock does not suffice. */
function reserveStock(stock: StockSession, { order, items }: OrderDraft): void {
  const reserved = stock.reserve({
    biz_no: order.order_no,
    lines: items.map(({ sku_id, qty }) => ({ sku_id, qty })),
    expires_at: order.expires_at,
  });
  if (!reserved.ok)
    throw reserved.reason === 'sku_not_found' ? orderErrors.no_valid_products() : orderErrors.insufficient_stock();
  items.forEach((item, line) => {
    item.warehouse_id = reserved.warehouse_ids[line] ?? 0;
  });
}

/** Restores the dates of an order that was stored as JSON. */
export function reviveOrder(stored: Order): Order {
  const at = (moment: unknown) => new Date(String(moment));
  return {
    ...stored,
    expires_at: at(stored.expires_at),
    paid_at: stored.paid_at && at(stored.paid_at),
    created_at: at(stored.created_at),
    updated_at: at(stored.updated_at),
  };
}
