import { id } from '@tradepost/http';
import type { PriceStep } from '@tradepost/pricing';
import { z } from 'zod';
import { marketingErrors } from '../errors.ts';
import { maxCouponsPerOrder } from '../limits.ts';
import type { UserCoupon } from '../storefront/user-coupon-store.ts';
import { hasStarted } from '../validity.ts';
import { bestCombination } from './best-combination.ts';
import { markReturned, markUsed, selectChosen } from './use-store.ts';

/** The chosen coupons by id. `taken` has those that accepted orders of the batch use. */
type Facts = { readonly coupons: ReadonlyMap<number, UserCoupon>; readonly taken: Set<number> };
/** The ids of the coupons that an order uses. */
type Use = readonly number[];

const chosenIn = (choices: Readonly<Record<string, unknown>>) =>
  (choices.coupon_ids as readonly number[] | undefined) ?? [];

/** The chosen coupon. Throws the refusal when the shopper cannot use it. */
function usable(couponId: number, userId: number, { coupons, taken }: Facts, now: Date): UserCoupon {
  const coupon = coupons.get(couponId);
  const at = { id: couponId };
  if (!coupon || coupon.user_id !== userId) throw marketingErrors.chosen_not_found(at);
  if (coupon.status === 2 || taken.has(couponId)) throw marketingErrors.chosen_used(at);
  if (coupon.status === 3) throw marketingErrors.chosen_expired(at);
  if (!hasStarted(coupon, now)) throw marketingErrors.chosen_not_started(at);
  return coupon;
}

/** The coupons that the shopper chose: of them the best combination is used. */
export const couponStep: PriceStep<Facts, Use> = {
  name: 'coupon',
  priority: 30,
  choices: {
    coupon_ids: z
      .array(id())
      .max(maxCouponsPerOrder)
      .optional()
      .meta({
        description:
          'Ids of my coupons (`GET /api/v1/user/coupons`). The best combination that their stack rules allow is used, and the others stay unused.',
        examples: [[]],
      }),
  },
  refuses: [
    marketingErrors.chosen_not_found,
    marketingErrors.chosen_used,
    marketingErrors.chosen_expired,
    marketingErrors.chosen_not_started,
  ],
  statements: { load: 1, write: 1, release: 1 },
  async load(sql, { requests, lock, now }) {
    const ids = [...new Set(requests.flatMap(({ choices }) => chosenIn(choices)))];
    const rows = ids.length > 0 ? await selectChosen(sql, ids, { lock, now }) : [];
    return { coupons: new Map(rows.map((row) => [row.id, row])), taken: new Set() };
  },
  apply(pricing, facts) {
    const { user_id, choices } = pricing.request;
    const chosen = [...new Set(chosenIn(choices))].map((couponId) => usable(couponId, user_id, facts, pricing.now));
    if (chosen.length === 0) return undefined;
    const best = bestCombination(chosen, pricing.base());
    for (const { coupon, off } of best) pricing.discount({ type: 'coupon', name: coupon.name }, off);
    return best.length > 0 ? best.map(({ coupon }) => coupon.id) : undefined;
  },
  take(use, { taken }) {
    for (const couponId of use) taken.add(couponId);
  },
  write(tx, uses, now) {
    const rows = uses.flatMap(({ order, use }) => use.map((couponId) => ({ id: couponId, order_id: order.id })));
    return [markUsed(tx, rows, now)];
  },
  release(tx, orders, now) {
    const ids = orders.map((order) => order.id);
    return [markReturned(tx, ids, now)];
  },
};
