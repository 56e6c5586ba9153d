import { isoInZone, type Labels, labelOf, pagingOf } from '@tradepost/core';
import { defineRoute, id, idParams, list, nothing, pageQueryWith, type Route, timestamp } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { z } from 'zod';
import { levelOf } from '../coupons/coupon.ts';
import { couponCard, couponFields } from '../coupons/coupon-schemas.ts';
import { couponCardOf, couponViewOf, type ViewOptions } from '../coupons/coupon-view.ts';
import { marketingErrors } from '../errors.ts';
import { type Claim, claimCoupons } from '../issuing/claim-coupons.ts';
import type { FindLevels } from '../issuing/target-store.ts';
import { maxClaimablePage, maxUserCoupons } from '../limits.ts';
import { type ClaimableCoupon, selectClaimable, selectUserCoupons, type UserCoupon } from './user-coupon-store.ts';

const tag = 'Coupons';

const userCouponStatusLabels: Labels = {
  1: { en: 'Unused', 'zh-CN': '未使用' },
  2: { en: 'Used', 'zh-CN': '已使用' },
  3: { en: 'Expired', 'zh-CN': '已过期' },
};

const claimableView = z
  .object({
    ...couponFields,
    claimed_by_me: z.int().meta({ description: 'coupons of this kind that I got' }),
    can_claim: z.boolean(),
  })
  .meta({ id: 'ClaimableCoupon' });

const userStatus = () => z.union([z.literal(1), z.literal(2), z.literal(3)]).meta({ examples: [1] });
const userCouponView = z
  .object({
    id: id().meta({ description: 'the id for coupon_ids of an order' }),
    coupon_id: id(),
    user_id: id(),
    status: userStatus(),
    status_label: z.string().meta({ examples: ['Unused'] }),
    used_at: timestamp().nullable(),
    order_id: id().nullable(),
    created_at: timestamp(),
    coupon: z.object(couponCard).meta({ id: 'CouponCard', description: 'the coupon as it was when I got it' }),
  })
  .meta({ id: 'UserCoupon' });

function claimableViewOf(coupon: ClaimableCoupon, level: number | undefined, options: ViewOptions) {
  const { target_type, total_count, claimed_count, per_limit, claimed_by_me } = coupon;
  const isForMe =
    target_type === 'new_user'
      ? !coupon.has_bought
      : target_type === 'vip_level'
        ? level !== undefined && level === levelOf(coupon)
        : true;
  const isLeft = total_count === 0 || claimed_count < total_count;
  const can_claim = isForMe && isLeft && (per_limit === 0 || claimed_by_me < per_limit);
  return { ...couponViewOf(coupon, options), claimed_by_me, can_claim };
}

const userCouponViewOf = (row: UserCoupon, options: ViewOptions) => ({
  id: row.id,
  coupon_id: row.coupon_id,
  user_id: row.user_id,
  status: row.status,
  status_label: labelOf(userCouponStatusLabels, row.status, options.locale),
  used_at: row.used_at && isoInZone(row.used_at, options.zone),
  order_id: row.order_id,
  created_at: isoInZone(row.created_at, options.zone),
  // Shoppers get enabled coupons only.
  coupon: couponCardOf({ ...row, id: row.coupon_id, status: 1 }, options),
});

/** The routes of the shop for coupons. */
export function shopperCouponRoutes(runtime: Runtime, levels: FindLevels): Route[] {
  const { sql, settings, now } = runtime;
  const claimOne = runtime.groupCommit<Claim, number>('claim_coupons', (claims, record) =>
    claimCoupons({ runtime, levels }, claims, record),
  );
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/coupons',
      auth: 'shopper',
      tag,
      summary: 'Coupons that can be claimed now, newest first',
      description:
        '`can_claim` is false when all are claimed, when I have enough of it, or when it is for other shoppers.',
      query: pageQueryWith({}),
      response: list(claimableView, maxClaimablePage),
      statements: 2,
      async handle({ caller, query, locale }) {
        const paging = pagingOf(query, { cap: maxClaimablePage });
        const at = now();
        const rows = await selectClaimable(sql, { userId: caller.id, now: at }, paging);
        const asksLevel = rows.some(({ target_type }) => target_type === 'vip_level');
        const found = asksLevel ? await levels()?.levelsOf(sql, [caller.id], at) : undefined;
        const options = { zone: settings.get(timeZone), locale };
        return rows.map((row) => claimableViewOf(row, found?.get(caller.id), options));
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/coupons/:id/claim',
      auth: 'shopper',
      tag,
      summary: 'Claim a coupon',
      params: idParams,
      response: nothing,
      refuses: [
        marketingErrors.claim_not_found,
        marketingErrors.claim_disabled,
        marketingErrors.claim_not_started,
        marketingErrors.claim_ended,
        marketingErrors.claim_not_for_shopper,
        marketingErrors.claim_sold_out,
        marketingErrors.claim_limit_reached,
      ],
      repeat: 'recorded',
      statements: 6,
      async handle({ caller, params, claim }) {
        await claimOne({ user_id: caller.id, coupon_id: params.id }, claim);
        return null;
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/user/coupons',
      auth: 'shopper',
      tag,
      summary: 'My coupons, newest first',
      query: pageQueryWith({
        status: userStatus()
          .optional()
          .meta({ description: '1 unused, 2 used, 3 expired; absent = all', examples: [1] }),
      }),
      response: list(userCouponView, maxUserCoupons),
      statements: 1,
      async handle({ caller, query, locale }) {
        const paging = pagingOf(query, { cap: maxUserCoupons, size: maxUserCoupons });
        const of = { userId: caller.id, status: query.status ?? null, now: now() };
        const rows = await selectUserCoupons(sql, of, paging);
        const options = { zone: settings.get(timeZone), locale };
        return rows.map((row) => userCouponViewOf(row, options));
      },
    }),
  ];
}
