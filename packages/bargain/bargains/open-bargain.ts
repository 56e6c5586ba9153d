import { type OfferRequest, runningOffer } from '@tradepost/activities';
import type { Transaction } from '@tradepost/postgres';
import { recordEvents } from '@tradepost/runtime';
import type { Bargain } from '../bargain.ts';
import { bargainFailed, bargainSucceeded, factsOf } from '../bargain-events.ts';
import { bargainKind, optionOf } from '../bargain-kind.ts';
import { failBargains, insertBargain, lockUsableBargains, type NewBargain } from './bargain-store.ts';
import { enqueueSweep } from './expire-bargains.ts';

export type OpenBargain = OfferRequest & { readonly user_id: number };

const hourMs = 60 * 60 * 1000;

/** The bargain that the shopper would open. Throws a refusal when the product cannot be bought now. */
async function offered(tx: Transaction, request: OpenBargain, now: Date): Promise<NewBargain> {
  const offer = await runningOffer(tx, bargainKind.type, request, now);
  const { activity_id, activity_product_id, activity_name, product_id, start_price, floor_price, options } = offer;
  return {
    ...{ activity_id, activity_product_id, activity_name, product_id, start_price, floor_price },
    sku_id: request.sku_id || offer.sku_id,
    owner_id: request.user_id,
    min_cut: optionOf(options, 'min_cut_amount'),
    max_cut: optionOf(options, 'max_cut_amount'),
    max_helpers: optionOf(options, 'max_helpers'),
    expire_at: new Date(now.getTime() + optionOf(options, 'expire_hours') * hourMs),
    created_at: now,
  };
}

/**
 * Opens a bargain. A shopper has at most one per row and SKU: while it is open, or has succeeded and is not bought, a further call
 * answers it. One that has expired is failed first.
 */
export async function openBargain(tx: Transaction, request: OpenBargain, now: Date): Promise<Bargain> {
  const wanted = await offered(tx, request, now);
  const own = await lockUsableBargains(tx, wanted);
  const expired = own.filter(({ status, expire_at }) => status === 'pending' && expire_at <= now);
  const usable = own.find((bargain) => !expired.includes(bargain));
  if (usable) return usable;
  if (expired.length > 0) {
    const failed = await failBargains(
      tx,
      expired.map(({ id }) => id),
      now,
    );
    await recordEvents(tx, bargainFailed, failed.map(factsOf), now);
  }
  const bargain = await insertBargain(tx, wanted);
  if (!bargain) {
    // Another call of the shopper has opened it meanwhile.
    const [opened] = await lockUsableBargains(tx, wanted);
    if (!opened) throw new Error('the bargain that another call opened has ended at once');
    return opened;
  }
  if (bargain.status === 'success') await recordEvents(tx, bargainSucceeded, [factsOf(bargain)], now);
  else await enqueueSweep(tx, bargain.expire_at);
  return bargain;
}
