import type { Transaction } from '@tradepost/postgres';
import { type Coupon, levelOf } from '../coupons/coupon.ts';
import { lockCoupons } from '../coupons/coupon-store.ts';
import { marketingErrors } from '../errors.ts';
import { maxSend } from '../limits.ts';
import { hasEnded } from '../validity.ts';
import { recordIssued } from './issue-coupons.ts';
import { type IssuedRow, insertSent } from './issue-store.ts';
import type { FindLevels } from './target-store.ts';

type Sending = { readonly limit: number; readonly levels: FindLevels; readonly now: Date };

/** Sends to members of the level, `maxSend` of them at a time, until `limit` coupons are sent or no member is left. */
async function sendToMembers(tx: Transaction, coupon: Coupon, { limit, levels, now }: Sending): Promise<IssuedRow[]> {
  const levelId = levelOf(coupon);
  const members = levels();
  if (!members || levelId === undefined) return [];
  const sent: IssuedRow[] = [];
  for (let after = 0; sent.length < limit; ) {
    const page = await members.membersWith(tx, { levelId, after, limit: maxSend, now });
    if (page.length === 0) break;
    for (const row of await insertSent(tx, coupon, { limit: limit - sent.length, members: page, now })) sent.push(row);
    if (page.length < maxSend) break;
    after = page.at(-1)!;
  }
  return sent;
}

/**
 * Sends a coupon to at most `count` shoppers of its target, one each, by ascending id of the shopper. Shoppers who have as many as
 * one may have are left out. Returns the number of coupons that were written, which is also added to `used_count`. It is smaller
 * than `count` when `total_count` is reached or no shopper is left.
 */
export async function sendCoupon(
  tx: Transaction,
  { id, count }: { id: number; count: number },
  { now, levels }: { now: Date; levels: FindLevels },
): Promise<number> {
  const [coupon] = await lockCoupons(tx, [id]);
  if (!coupon) throw marketingErrors.coupon_not_found({ id });
  if (coupon.status !== 1) throw marketingErrors.cannot_send_disabled();
  if (hasEnded(coupon, now)) throw marketingErrors.cannot_send_ended();
  const left = coupon.total_count > 0 ? Math.max(0, coupon.total_count - coupon.claimed_count) : count;
  const limit = Math.min(count, left);
  if (limit === 0) return 0;
  const sent =
    coupon.target_type === 'vip_level'
      ? await sendToMembers(tx, coupon, { limit, levels, now })
      : await insertSent(tx, coupon, { limit, members: null, now });
  const { name: coupon_name } = coupon;
  const facts = sent.map(({ id: user_coupon_id, coupon_id, user_id }) => ({
    ...{ user_coupon_id, coupon_id, coupon_name, user_id, source: 'send' },
  }));
  await recordIssued(tx, facts, now);
  return sent.length;
}
