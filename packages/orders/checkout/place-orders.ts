import { type SkuForSale, selectSkusForSale } from '@tradepost/catalog';
import { type Locale, maxMinor } from '@tradepost/core';
import { type Address, selectAddressesOf } from '@tradepost/identity';
import type { Inventory, StockSession } from '@tradepost/inventory';
import type { PriceFacts, PricePipeline } from '@tradepost/marketing';
import { type Queryable, writeTransaction } from '@tradepost/postgres';
import type { RecordOutcomes, Runtime } from '@tradepost/runtime';
import { type CartKey, type CartLine, lockCarts } from '../cart/cart-store.ts';
import { orderErrors } from '../errors.ts';
import { maxLines } from '../limits.ts';
import type { ExpirySchedule } from '../orders/expire-orders.ts';
import { type AddressSnapshot, lineTexts, type Order, orderNumber, orderStatus } from '../orders/order.ts';
import { insertOrders, type NewOrderItem, nextOrderIds } from '../orders/order-store.ts';
import type { SoldTitles } from './sold-titles.ts';

export type PlaceOrder = {
  user_id: number;
  address_id: number;
  payment_method: string;
  /** Wins over `sku_ids`; a pair that is not in the cart is bought directly, one piece. */
  items?: readonly { sku_id: number; activity_product_id: number }[] | undefined;
  sku_ids?: readonly number[] | undefined;
  remark: string;
  locale: Locale;
  /** What was reserved for it before: its number is taken, and it must come out with these pieces. */
  ahead?: AheadOrder;
};

export type AheadOrder = { id: number; order_no: string; lines: readonly { sku_id: number; qty: number }[] };

type PickedLine = { sku_id: number; activity_product_id: number; qty: number; fromCart: boolean };
type Cart = Map<string, CartLine>;
/** A request that passed all checks but the stock. */
type Draft = { order: Order; items: NewOrderItem[]; usedUp: CartKey[] };

const keyOf = (line: { sku_id: number; activity_product_id: number }) => `${line.sku_id}/${line.activity_product_id}`;

/** The lines an order is made of (spec 1, creation rules). Throws the refusal when there is nothing to order. */
function pickLines(request: PlaceOrder, cart: Cart): PickedLine[] {
  const fromCart = (line: CartLine): PickedLine => ({ ...line, fromCart: true });
  let picks: PickedLine[];
  if (request.items?.length) {
    const pairs = new Map(request.items.map((item) => [keyOf(item), item]));
    picks = [...pairs].map(([key, item]) => {
      const line = cart.get(key);
      return line ? fromCart(line) : { ...item, qty: 1, fromCart: false };
    });
  } else if (cart.size === 0) {
    throw orderErrors.cart_empty();
  } else if (request.sku_ids?.length) {
    const wanted = new Set(request.sku_ids);
    picks = [...cart.values()].filter((line) => wanted.has(line.sku_id)).map(fromCart);
  } else {
    picks = [...cart.values()].map(fromCart);
  }
  if (picks.length > maxLines) throw orderErrors.too_many_lines({ max: maxLines });
  // No activity exists that a line could name.
  if (picks.some((pick) => pick.activity_product_id > 0)) throw orderErrors.activity_not_found();
  return picks;
}

/** Those of the picked lines that are for sale; throws when none is. */
export function sellableLines(request: PlaceOrder, cart: Cart, skus: ReadonlyMap<number, SkuForSale>) {
  const lines = pickLines(request, cart).flatMap((pick) => {
    const sku = skus.get(pick.sku_id);
    return sku ? [{ ...pick, sku }] : [];
  });
  if (lines.length === 0) throw orderErrors.no_valid_products();
  return lines;
}

function snapshotOf(address: Address): AddressSnapshot {
  const { id, user_id, name, phone, province, city, district, detail } = address;
  return { id, user_id, name, phone, province, city, district, detail, is_default: address.is_default ? 1 : 0 };
}

type Facts = {
  id: number;
  order_no: string;
  address: Address | undefined;
  cart: Cart;
  skus: ReadonlyMap<number, SkuForSale>;
  pipeline: PricePipeline;
  prices: PriceFacts;
  inventoryStatus: Order['inventory_status'];
  expiresAt: Date;
  now: Date;
};

/** Decides one request from the facts, without the stock. Throws its refusal. */
function draftOrder(request: PlaceOrder, facts: Facts): Draft {
  const { id, order_no, now, expiresAt } = facts;
  if (!facts.address) throw orderErrors.address_not_found();
  const lines = sellableLines(request, facts.cart, facts.skus);
  const priced = facts.pipeline.quote(
    {
      user_id: request.user_id,
      lines: lines.map(({ sku, qty, activity_product_id }) => ({
        ...{ sku_id: sku.id, product_id: sku.product_id, activity_product_id, qty, price: sku.price },
      })),
    },
    facts.prices,
  );
  if (priced.goods_amount > maxMinor) throw orderErrors.amount_too_large();
  const order: Order = {
    id,
    order_no,
    user_id: request.user_id,
    merchant_id: 1,
    status: orderStatus.pendingPayment,
    inventory_status: facts.inventoryStatus,
    payment_method: request.payment_method,
    goods_amount: priced.goods_amount,
    discount_amount: priced.discount_amount,
    freight_amount: priced.freight_amount,
    total_amount: priced.total_amount,
    address_snapshot: snapshotOf(facts.address),
    remark: request.remark,
    tracking_no: '',
    expires_at: expiresAt,
    paid_at: null,
    created_at: now,
    updated_at: now,
  };
  const items = lines.map(
    ({ sku, qty }, line): NewOrderItem => ({
      order_id: id,
      product_id: sku.product_id,
      sku_id: sku.id,
      warehouse_id: 0,
      activity_product_id: 0,
      activity_id: 0,
      activity_type: '',
      activity_title: '',
      ...lineTexts(sku, request.locale),
      cover: sku.cover,
      ...priced.lines[line]!,
      qty,
    }),
  );
  const usedUp = lines.filter((line) => line.fromCart).map((line) => ({ ...line, user_id: request.user_id }));
  return { order, items, usedUp };
}

export function cartsOf(rows: readonly (CartLine & { seq: number })[]): Map<number, Cart> {
  const carts = new Map<number, Cart>();
  for (const line of [...rows].sort((a, b) => a.seq - b.seq)) {
    const cart = carts.get(line.user_id) ?? new Map();
    cart.set(keyOf(line), line);
    carts.set(line.user_id, cart);
  }
  return carts;
}

/** An order as it comes back from JSON. */
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

export type PlaceDeps = {
  runtime: Pick<Runtime, 'sql' | 'now'>;
  inventory: Inventory;
  pipeline: PricePipeline;
  unpaidMinutes: () => number;
  soldTitles: SoldTitles;
  scheduleExpiry: ExpirySchedule;
};

/**
 * Places many orders in one transaction of three round trips: lock the carts and read addresses; lock the stock and read
 * the goods; decide each request in arrival order in plain code, and send everything that is written with the commit.
 * Answers each request's order or its refusal.
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
  const answers: (Order | Error)[] = [];
  const committed = await writeTransaction(runtime.sql, async (tx) => {
    const [carts, addresses, ids] = await Promise.all([
      lockCarts(tx, userIds).then(cartsOf),
      addressesOf(tx, requests),
      nextOrderIds(tx, requests.length),
    ]);
    const skuIds = skuIdsOf(requests, carts);
    // The lock goes first: what an editor has committed while we waited for it, price or shelf, is then read.
    const [stock, skus, prices] = await Promise.all([
      inventory.openStockSession(tx, skuIds),
      selectSkusForSale(tx, skuIds),
      pipeline.load(tx, { userIds, skuIds, now }),
    ]);
    const inventoryStatus = inventory.statusAfter.reserve;
    const placed: Draft[] = [];
    requests.forEach((request, index) => {
      const cart = carts.get(request.user_id) ?? new Map();
      const address = addresses.get(addressKey(request.user_id, request.address_id));
      try {
        const { id, order_no } = request.ahead ?? numbered(ids[index]!, now);
        const facts = { id, order_no, address, cart, skus, pipeline, prices, inventoryStatus, expiresAt, now };
        const draft = draftOrder(request, facts);
        if (request.ahead && !samePieces(linesOf(draft), request.ahead.lines)) throw orderErrors.cart_changed();
        reserveStock(stock, draft);
        // The next request of the same shopper in this batch must not see these lines again.
        for (const key of draft.usedUp) cart.delete(keyOf(key));
        placed.push(draft);
        answers[index] = draft.order;
      } catch (refusal) {
        answers[index] = refusal as Error;
        if (request.ahead) stock.releaseDemand(request.ahead.order_no, (refusal as Error).message);
      }
    });
    if (placed.length === 0) return { value: [], last: stock.statements() };
    const orders = placed.map((draft) => draft.order);
    const items = placed.flatMap((draft) => draft.items);
    const usedUp = placed.flatMap((draft) => draft.usedUp);
    const beside = [deps.scheduleExpiry(tx, expiresAt), deps.soldTitles(tx, items)].filter((one) => one !== null);
    return {
      value: beside,
      last: [
        ...stock.statements(),
        insertOrders(tx, orders, items, usedUp),
        ...beside.map((one) => one.statement),
        ...(record?.(tx, answers) ?? []),
      ],
    };
  });
  for (const one of committed) one.committed();
  return answers;
}

export const numbered = (id: number, now: Date) => ({ id, order_no: orderNumber(id, now) });
const linesOf = (draft: Draft) => draft.items.map(({ sku_id, qty }) => ({ sku_id, qty }));
const samePieces = (a: AheadOrder['lines'], b: AheadOrder['lines']) =>
  a.length === b.length && a.every((line, i) => line.sku_id === b[i]!.sku_id && line.qty === b[i]!.qty);

/** By shopper and id: in a batch an address of one shopper must not be found by another. */
export const addressKey = (userId: number, id: number) => `${userId}/${id}`;
export async function addressesOf(sql: Queryable, requests: readonly PlaceOrder[]): Promise<Map<string, Address>> {
  const rows = await selectAddressesOf(
    sql,
    requests.map((r) => r.address_id),
    requests.map((r) => r.user_id),
  );
  return new Map(rows.map((row) => [addressKey(row.user_id, row.id), row]));
}

/** Every SKU that any of the requests may come to need. */
export function skuIdsOf(requests: readonly PlaceOrder[], carts: ReadonlyMap<number, Cart>): number[] {
  const ids = new Set<number>();
  for (const request of requests) {
    for (const item of request.items ?? []) ids.add(item.sku_id);
    if (!request.items?.length) for (const line of carts.get(request.user_id)?.values() ?? []) ids.add(line.sku_id);
  }
  return [...ids];
}

/** Takes the draft's stock, or throws the refusal. */
function reserveStock(stock: StockSession, { order, items }: Draft): void {
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
