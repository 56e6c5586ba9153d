import type { Claim, Runtime } from '@tradepost/runtime';
import type { Order } from '../orders/order.ts';
import { draftOrders } from './draft-orders.ts';
import { type AheadOrder, type PlaceDeps, type PlaceOrder, placeOrders, reviveOrder } from './place-orders.ts';

const useCase = 'place_orders';

/**
 * Places one order among the many of its batch. Where the stock is taken over the network, the order is drafted first
 * and its pieces are reserved for the number it will have, each buyer for themselves: who waits for the partner holds up
 * neither a transaction nor the others.
 */
export function openPlacement(
  deps: PlaceDeps & { runtime: Pick<Runtime, 'groupCommit'> },
): (request: PlaceOrder, claim: Claim | null) => Promise<Order> {
  const { runtime, inventory } = deps;
  const place = runtime.groupCommit<PlaceOrder, Order>(useCase, (many, record) => placeOrders(deps, many, record), {
    revive: reviveOrder,
  });
  const { preReserve } = inventory;
  if (!preReserve) return place;
  const draft = runtime.groupCommit<PlaceOrder, AheadOrder>('draft_orders', (many) => draftOrders(deps, many));
  return async (request, claim) => {
    // A repeat whose order is written gets that order, and asks nobody.
    if (claim && Object.hasOwn(claim.outcomes, useCase)) return place(request, claim);
    const ahead = await draft(request);
    await preReserve({ biz_no: ahead.order_no, lines: ahead.lines });
    return place({ ...request, ahead }, claim);
  };
}
