import { selectSkusForSale } from '@tradepost/catalog';
import { selectCarts } from '../cart/cart-store.ts';
import { asError, orderErrors } from '../errors.ts';
import { nextOrderIds } from '../orders/order-store.ts';
import { candidatesOf, cartsOf, type PlaceOrder, type PreReservation, sellableLines } from './order-draft.ts';
import { addressesOf, addressKey, numbered, type PlaceDeps } from './place-orders.ts';

/**
 * Assigns a number to each future order and lists its lines, so that an external warehouse can reserve them before the order
 * is written. Takes no locks: `placeOrders` decides again. Returns a refusal for a request that cannot be ordered now.
 */
export async function planPreReservations(
  { runtime: { sql, now } }: Pick<PlaceDeps, 'runtime'>,
  requests: readonly PlaceOrder[],
): Promise<(PreReservation | Error)[]> {
  const [carts, addresses, ids] = await Promise.all([
    selectCarts(sql, [...new Set(requests.map((request) => request.user_id))]).then(cartsOf),
    addressesOf(sql, requests),
    nextOrderIds(sql, requests.length),
  ]);
  const skus = await selectSkusForSale(sql, candidatesOf(requests, carts).skuIds);
  return requests.map((request, index) => {
    try {
      if (!addresses.has(addressKey(request.user_id, request.address_id))) throw orderErrors.address_not_found();
      const lines = sellableLines(request, carts.get(request.user_id) ?? new Map(), skus);
      return {
        ...numbered(ids[index]!, now()),
        lines: lines.map(({ sku, qty }) => ({ sku_id: sku.id, qty })),
      };
    } catch (thrown) {
      return asError(thrown);
    }
  });
}
