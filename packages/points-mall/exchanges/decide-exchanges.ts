import { mallErrors } from '../errors.ts';
import { leftOf, type Product } from '../products/product.ts';
import type { AddressSnapshot } from './address-snapshot.ts';
import { firstStatus } from './exchange.ts';
import type { NewExchange, Taken } from './exchange-store.ts';

export type PlaceExchange = {
  readonly user_id: number;
  readonly product_id: number;
  readonly qty: number;
  readonly address: AddressSnapshot | null;
};

/** The locked products, and what the shoppers of the batch have. The requests of the batch change it one after the other. */
export type MallFacts = {
  readonly products: Map<number, Product>;
  /** By `takenKey`. */
  readonly taken: Map<string, Taken>;
  readonly balances: Map<number, number>;
  /** The default addresses of the shoppers. */
  readonly addresses: ReadonlyMap<number, AddressSnapshot>;
};

export const takenKey = (userId: number, productId: number) => `${userId}/${productId}`;

function refuseLimits(product: Product, { in_all, today }: Taken, qty: number): void {
  const { limit_per_user, limit_per_day } = product;
  if (limit_per_user > 0 && in_all + qty > limit_per_user)
    throw mallErrors.limit_per_user({ max: limit_per_user, taken: in_all });
  if (limit_per_day > 0 && today + qty > limit_per_day)
    throw mallErrors.limit_per_day({ max: limit_per_day, taken: today });
}

/** Goods take the address that was sent, else the default address of the shopper. */
function addressOf({ type, need_address }: Product, request: PlaceExchange, facts: MallFacts): AddressSnapshot | null {
  if (type !== 'physical' && !need_address) return null;
  const address = request.address ?? facts.addresses.get(request.user_id) ?? null;
  if (!address && need_address) throw mallErrors.address_needed();
  return address;
}

/** Decides a request and takes its pieces and points from the facts. Throws the refusal. */
export function decideExchange(request: PlaceExchange, facts: MallFacts): NewExchange {
  const { user_id, product_id, qty } = request;
  const product = facts.products.get(product_id);
  if (!product) throw mallErrors.product_not_found();
  if (product.status !== 1) throw mallErrors.off_shelf();
  const left = leftOf(product);
  if (left === 0) throw mallErrors.sold_out();
  if (left !== null && left < qty) throw mallErrors.stock_short({ left });
  const key = takenKey(user_id, product_id);
  const taken = facts.taken.get(key) ?? { user_id, product_id, in_all: 0, today: 0 };
  refuseLimits(product, taken, qty);
  const cost = product.points_price * qty;
  const balance = facts.balances.get(user_id) ?? 0;
  if (balance < cost) throw mallErrors.not_enough_points({ cost, balance });
  const address_snapshot = addressOf(product, request, facts);
  if (product.type === 'coupon' && product.coupon_id === 0) throw mallErrors.coupon_gone();

  facts.products.set(product_id, { ...product, sold_count: product.sold_count + qty });
  facts.taken.set(key, { ...taken, in_all: taken.in_all + qty, today: taken.today + qty });
  facts.balances.set(user_id, balance - cost);
  return {
    ...{ user_id, product_id, qty, address_snapshot, points_cost: cost },
    product_title: product.title,
    product_type: product.type,
    product_cover: product.cover,
    status: firstStatus[product.type],
    coupon_user_ids: [],
    virtual_content: product.type === 'virtual' ? product.virtual_content : '',
    limit_per_user: product.limit_per_user,
    limit_per_day: product.limit_per_day,
  };
}
