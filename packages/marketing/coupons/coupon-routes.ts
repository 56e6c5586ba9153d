import { paged, pagingOf } from '@tradepost/core';
import { defineRoute, idParams, nothing, pagedOf, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { marketingErrors } from '../errors.ts';
import { sendCoupon } from '../issuing/send-coupon.ts';
import type { FindLevels } from '../issuing/target-store.ts';
import { maxAdminPage } from '../limits.ts';
import { couponBody, couponChangeBody, couponQuery, couponView, sendBody, sentView } from './coupon-schemas.ts';
import { deleteCoupons, selectCoupons } from './coupon-store.ts';
import { couponViewOf } from './coupon-view.ts';
import { createCoupon, editCoupon } from './save-coupon.ts';

const tag = 'Coupons (admin)';
const fieldRefusals = [
  marketingErrors.invalid_time,
  marketingErrors.ends_before_start,
  marketingErrors.invalid_amount_off,
  marketingErrors.invalid_rate,
  marketingErrors.invalid_level,
];

/** The routes of the back office for coupons. */
export function couponRoutes({ sql, settings, now }: Runtime, levels: FindLevels): Route[] {
  const times = () => ({ zone: settings.get(timeZone), now: now() });
  return [
    defineRoute({
      method: 'GET',
      path: '/admin/api/marketing/coupons',
      auth: 'staff',
      permission: 'marketing:view',
      tag,
      summary: 'Coupons, newest first',
      query: couponQuery,
      response: pagedOf(couponView, maxAdminPage),
      statements: 1,
      async handle({ query, locale }) {
        const paging = pagingOf(query, { cap: maxAdminPage });
        const { keyword = '', status = -1, type = -1 } = query;
        const filter = { keyword, status: status < 0 ? null : status, type: type < 1 ? null : type };
        const { rows, total } = await selectCoupons(sql, filter, paging);
        const list = rows.map((row) => couponViewOf(row, { zone: settings.get(timeZone), locale }));
        return paged(list, total, paging);
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/admin/api/marketing/coupons',
      auth: 'staff',
      permission: 'marketing:edit',
      tag,
      summary: 'Create a coupon',
      body: couponBody,
      response: couponView,
      refuses: [...fieldRefusals, marketingErrors.too_many_coupons],
      repeat: 'recorded',
      statements: 3,
      handle({ body, write, locale }) {
        const options = { zone: settings.get(timeZone), locale };
        return write(async (tx) => couponViewOf(await createCoupon(tx, body, times()), options));
      },
    }),
    defineRoute({
      method: 'PUT',
      path: '/admin/api/marketing/coupons/:id',
      auth: 'staff',
      permission: 'marketing:edit',
      tag,
      summary: 'Edit a coupon; absent fields stay unchanged',
      description: 'Coupons that shoppers have stay as they were when the shoppers got them.',
      params: idParams,
      body: couponChangeBody,
      response: nothing,
      refuses: [...fieldRefusals, marketingErrors.coupon_not_found],
      repeat: 'recorded',
      statements: 3,
      async handle({ params, body, write }) {
        await write((tx) => editCoupon(tx, params.id, body, times()));
        return null;
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/admin/api/marketing/coupons/:id',
      auth: 'staff',
      permission: 'marketing:edit',
      tag,
      summary: 'Delete a coupon; shoppers keep those that they have',
      params: idParams,
      response: nothing,
      refuses: [marketingErrors.coupon_not_found],
      repeat: 'recorded',
      statements: 1,
      async handle({ params: { id }, write }) {
        await write(async (tx) => {
          if ((await deleteCoupons(tx, [id], now())).length === 0) throw marketingErrors.coupon_not_found({ id });
        });
        return null;
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/admin/api/marketing/coupons/:id/send',
      auth: 'staff',
      permission: 'marketing:edit',
      tag,
      summary: 'Send a coupon to at most `count` shoppers of its target, one each',
      description:
        'Shoppers get it by ascending id, without those who have `per_limit` of it. `sent_count` is smaller than `count` when ' +
        '`total_count` is reached or no shopper is left. `used_count` rises by it.',
      params: idParams,
      body: sendBody,
      response: sentView,
      refuses: [
        marketingErrors.coupon_not_found,
        marketingErrors.cannot_send_disabled,
        marketingErrors.cannot_send_ended,
      ],
      repeat: 'recorded',
      // For a member level, two more for each further 100,000 members.
      statements: 4,
      handle: ({ params: { id }, body: { count }, write }) =>
        write(async (tx) => ({ sent_count: await sendCoupon(tx, { id, count }, { now: now(), levels }) })),
    }),
  ];
}
