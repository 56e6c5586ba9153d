import { selectSkusForSale } from '@tradepost/catalog';
import { selectCarts } from '../cart/cart-store.ts';
import { orderErrors } from '../errors.ts';
import { nextOrderIds } from '../orders/order-store.ts';
import {
  type AheadOrder,
  addressesOf,
  addressKey,
  cartsOf,
  numbered,
  type PlaceDeps,
  type PlaceOrder,
  sellableLines,
  skuIdsOf,
} from './place-orders.ts';

/**
 * What these requests would order as things are now, with numbers for their orders: for stock that has to be reserved
 * before an order is written. Locks nothing; `placeOrders` decides.
 */
export async function draftOrders(
  { runtime: { sql, now } }: Pick<PlaceDeps, 'runtime'>,
  requests: readonly PlaceOrder[],
): Promise<(AheadOrder | Error)[]> {
  const [carts, addresses, ids] = await Promise.all([
    selectCarts(sql, [...new Set(requests.map((request) => request.user_id))]).then(cartsOf),
    addressesOf(sql, requests),
    nextOrderIds(sql, requests.length),
  ]);
  const skus = await selectSkusForSale(sql, skuIdsOf(requests, carts));
  return requests.map((request, index) => {
    try {
      if (!addresses.has(addressKey(request.user_id, request.address_id))) throw orderErrors.address_not_found();
      const lines = sellableLines(request, carts.get(request.user_id) ?? new Map(), skus);
      return {
        ...numbered(ids[index]!, now()),
        lines: lines.map(({ sku, qty }) => ({ sku_id: sku.id, qty })),
      };
    } catch (refusal) {
      return refusal as Error;
    }
  });
}
