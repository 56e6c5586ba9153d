import type { SkuForSale } from '@tradepost/catalog';
import { type Locale, maxMinor } from '@tradepost/core';
import type { Address } from '@tradepost/identity';
import type { PricedOrder, PriceFacts, PricePipeline } from '@tradepost/pricing';
import type { CartKey, CartLine } from '../cart/cart-store.ts';
import { orderErrors } from '../errors.ts';
import { maxLines } from '../limits.ts';
import { type AddressSnapshot, lineTexts, type Order } from '../orders/order.ts';
import { orderStatus } from '../orders/order-status.ts';
import type { NewOrderItem } from '../orders/order-store.ts';

/** The lines that a shopper wants to order, and the choices of the price steps. */
export type OrderSelection = {
  user_id: number;
  /** Takes precedence over `sku_ids`. A pair that is not in the cart is ordered directly, one piece. */
  items?: readonly { sku_id: number; activity_product_id: number }[] | undefined;
  sku_ids?: readonly number[] | undefined;
  /** The fields of the price steps, such as `coupon_ids`. */
  choices: Readonly<Record<string, unknown>>;
};

/** A request to place an order. */
export type PlaceOrder = OrderSelection & {
  address_id: number;
  payment_method: string;
  remark: string;
  locale: Locale;
  /** The pre-reservation of this order. The order gets its id and number, and must have exactly its lines. */
  preReservation?: PreReservation;
};

/** The id and number of an order that is not written yet, and the lines that an external warehouse reserves for it. */
export type PreReservation = { id: number; order_no: string; lines: readonly { sku_id: number; qty: number }[] };

/** The cart of one shopper, by `lineKey`. */
export type Cart = Map<string, CartLine>;

/** An order that passed all checks except the one of its stock. */
export type OrderDraft = { order: Order; items: NewOrderItem[]; usedUp: CartKey[]; priced: PricedOrder };

type PickedLine = { sku_id: number; activity_product_id: number; qty: number; fromCart: boolean };

export const lineKey = (line: { sku_id: number; activity_product_id: number }) =>
  `${line.sku_id}/${line.activity_product_id}`;

/** Groups cart lines by shopper, in the order in which they were added. */
export function cartsOf(rows: readonly (CartLine & { seq: number })[]): Map<number, Cart> {
  const carts = new Map<number, Cart>();
  for (const line of [...rows].sort((a, b) => a.seq - b.seq)) {
    const cart = carts.get(line.user_id) ?? new Map();
    cart.set(lineKey(line), line);
    carts.set(line.user_id, cart);
  }
  return carts;
}

/** All SKUs and activity products that the requests may order. */
export function candidatesOf(requests: readonly OrderSelection[], carts: ReadonlyMap<number, Cart>) {
  const skuIds = new Set<number>();
  const activityProductIds = new Set<number>();
  for (const request of requests)
    for (const line of request.items?.length ? request.items : (carts.get(request.user_id)?.values() ?? [])) {
      skuIds.add(line.sku_id);
      if (line.activity_product_id > 0) activityProductIds.add(line.activity_product_id);
    }
  return { skuIds: [...skuIds], activityProductIds: [...activityProductIds] };
}

/**
 * Chooses the lines of an order: `items`, else the cart lines of `sku_ids`, else the whole cart. Throws a refusal when the
 * cart is empty, or when there are too many lines.
 */
function pickLines(request: OrderSelection, cart: Cart): PickedLine[] {
  const fromCart = (line: CartLine): PickedLine => ({ ...line, fromCart: true });
  let picks: PickedLine[];
  if (request.items?.length) {
    const pairs = new Map(request.items.map((item) => [lineKey(item), item]));
    picks = [...pairs].map(([key, item]) => {
      const line = cart.get(key);
      return line ? fromCart(line) : { ...item, qty: 1, fromCart: false };
    });
  } else if (cart.size === 0) {
    throw orderErrors.cart_empty();
  } else if (request.sku_ids?.length) {
    const skuIds = new Set(request.sku_ids);
    picks = [...cart.values()].filter((line) => skuIds.has(line.sku_id)).map(fromCart);
  } else {
    picks = [...cart.values()].map(fromCart);
  }
  if (picks.length > maxLines) throw orderErrors.too_many_lines({ max: maxLines });
  return picks;
}

/** The chosen lines whose SKU is for sale. Throws a refusal when there is no such line. */
export function sellableLines(request: OrderSelection, cart: Cart, skus: ReadonlyMap<number, SkuForSale>) {
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

/** The data that decides the lines and prices of a request. */
export type QuoteFacts = {
  cart: Cart;
  skus: ReadonlyMap<number, SkuForSale>;
  pipeline: PricePipeline;
  prices: PriceFacts;
  now: Date;
};

/** The data that decides whether a request becomes an order. */
type OrderFacts = QuoteFacts & {
  id: number;
  order_no: string;
  address: Address | undefined;
  inventoryStatus: Order['inventory_status'];
  expiresAt: Date;
};

/** The lines of a request with their prices: the same for a quote and for an order. Throws the refusal of the request. */
export function priceLines(request: OrderSelection, { cart, skus, pipeline, prices, now }: QuoteFacts) {
  const lines = sellableLines(request, cart, skus);
  const priced = pipeline.price(
    {
      user_id: request.user_id,
      choices: request.choices,
      lines: lines.map(({ sku, qty, activity_product_id }) => ({
        ...{ sku_id: sku.id, product_id: sku.product_id, activity_product_id, qty, price: sku.price },
      })),
    },
    prices,
    now,
  );
  // No step knows the activity: its module is switched off.
  if (lines.some((line, index) => line.activity_product_id > 0 && !priced.lines[index]!.activity))
    throw orderErrors.activity_not_found();
  if (priced.goods_amount > maxMinor) throw orderErrors.amount_too_large();
  return { lines, priced };
}

/** The activity fields of a line. All are 0 or empty for an ordinary line. */
export const activityFields = (activity_product_id: number, activity: PricedOrder['lines'][number]['activity']) => ({
  activity_product_id,
  ...(activity ?? { activity_id: 0, activity_type: '', activity_title: '' }),
});

/** Makes the order of one request. Does not check the stock. Throws the refusal of the request. */
export function draftOrder(request: PlaceOrder, facts: OrderFacts): OrderDraft {
  const { id, order_no, now, expiresAt } = facts;
  if (!facts.address) throw orderErrors.address_not_found();
  const { lines, priced } = priceLines(request, facts);
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
    discounts: priced.discounts.length > 0 ? priced.discounts : null,
    price_steps: priced.uses.size > 0 ? [...priced.uses.keys()] : null,
    address_snapshot: snapshotOf(facts.address),
    remark: request.remark,
    tracking_no: '',
    expires_at: expiresAt,
    paid_at: null,
    created_at: now,
    updated_at: now,
  };
  const items = lines.map(({ sku, qty, activity_product_id }, line): NewOrderItem => {
    const { price, payable_amount, discounts, activity } = priced.lines[line]!;
    return {
      order_id: id,
      product_id: sku.product_id,
      sku_id: sku.id,
      warehouse_id: 0,
      ...activityFields(activity_product_id, activity),
      ...lineTexts(sku, request.locale),
      cover: sku.cover,
      ...{ price, qty, payable_amount },
      discounts: discounts.length > 0 ? discounts : null,
    };
  });
  const usedUp = lines.filter((line) => line.fromCart).map((line) => ({ ...line, user_id: request.user_id }));
  return { order, items, usedUp, priced };
}
