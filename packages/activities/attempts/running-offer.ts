import type { Queryable } from '@tradepost/postgres';
import type { ActivityType } from '../activity-kinds.ts';
import { activityErrors } from '../errors.ts';
import { type Offer, selectOffer } from './offer-store.ts';

/** A row of a running activity. `sku_id` 0: the row of the product in the activity. */
export type OfferRequest = { readonly activity_id: number; readonly product_id: number; readonly sku_id: number };

/** The refusals of `runningOffer`. */
export const offerRefusals = [
  activityErrors.offer_not_found,
  activityErrors.offer_not_running,
  activityErrors.offer_sold_out,
];

/** The row of a running activity that a shopper can make an attempt for. Throws a refusal when it can not be bought now. */
export async function runningOffer(
  sql: Queryable,
  type: ActivityType,
  request: OfferRequest,
  now: Date,
): Promise<Offer> {
  const offer = await selectOffer(sql, type, request);
  if (!offer) throw activityErrors.offer_not_found();
  if (offer.status !== 1 || offer.start_at > now || offer.end_at <= now) throw activityErrors.offer_not_running();
  if (offer.total_stock_limit > 0 && offer.sold_qty >= offer.total_stock_limit) throw activityErrors.offer_sold_out();
  return offer;
}
