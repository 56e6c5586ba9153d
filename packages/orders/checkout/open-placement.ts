import type { Claim, Runtime } from '@tradepost/runtime';
import type { Order } from '../orders/order.ts';
import type { PlaceOrder, PreReservation } from './order-draft.ts';
import { type PlaceDeps, placeOrders, reviveOrder } from './place-orders.ts';
import { planPreReservations } from './plan-pre-reservations.ts';

const useCase = 'place_orders';

/**
 * Returns the function that places one order as part of a batch. When an external warehouse owns the stock, each request
 * first makes its pre-reservation. That call is made for one order and outside of any transaction: a slow warehouse delays
 * only the shopper who waits for it.
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
  const plan = runtime.groupCommit<PlaceOrder, PreReservation>('draft_orders', (many) =>
    planPreReservations(deps, many),
  );
  return async (request, claim) => {
    // A repeated request whose order exists gets that order. No pre-reservation is made.
    if (claim && Object.hasOwn(claim.outcomes, useCase)) return place(request, claim);
    const preReservation = await plan(request);
    await preReserve({ biz_no: preReservation.order_no, lines: preReservation.lines });
    return place({ ...request, preReservation }, claim);
  };
}
