import { type Labels, labelOf, paged, pagingOf, toWire } from '@tradepost/core';
import { defineRoute, idParams, nothing, pagedOf, pageQueryWith, type Route } from '@tradepost/http';
import type { SubjectPayments } from '@tradepost/orders';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { z } from 'zod';
import { claimCoupon, monthOf } from '../coupon-rules/claim-coupons.ts';
import { selectMonthlyRules } from '../coupon-rules/claim-store.ts';
import { type Coupons, couponNames } from '../coupon-rules/coupons.ts';
import { monthlyCoupons } from '../coupon-rules/rule-schemas.ts';
import { vipErrors } from '../errors.ts';
import { isoOf } from '../fields.ts';
import { maxPage } from '../limits.ts';
import { vipUnpaidMinutes } from '../settings.ts';
import { selectAsset, selectFirstLevel, selectGrowthLogs } from './asset-store.ts';
import {
  assetView,
  growthLogSchema,
  growthLogView,
  openBody,
  openedSchema,
  profileSchema,
  profileView,
} from './membership-schemas.ts';
import { openMembership } from './open-membership.ts';

const tag = 'Memberships';
const own = { auth: 'shopper', tag } as const;

const growthLabels: Labels = {
  order_paid: { en: 'Order paid', 'zh-CN': '订单支付' },
  order_refund: { en: 'Order refunded', 'zh-CN': '订单退款' },
  admin_adjust: { en: 'Adjusted by the shop', 'zh-CN': '后台调整' },
};

/** `coupons` is called after all modules are open. */
export const membershipRoutes = (runtime: Runtime, payments: SubjectPayments, coupons: () => Coupons): Route[] => [
  defineRoute({
    ...own,
    method: 'GET',
    path: '/api/v1/vip/profile',
    summary: 'My membership, level and growth',
    response: profileSchema,
    statements: 2,
    handle: async ({ caller }) => {
      const asset = await selectAsset(runtime.sql, caller.id, runtime.now());
      return profileView(asset, asset ? '' : await selectFirstLevel(runtime.sql), isoOf(runtime));
    },
  }),
  defineRoute({
    ...own,
    method: 'POST',
    path: '/api/v1/vip/open',
    summary: 'Open my membership, or extend it by the months of a plan',
    description:
      'With instant payment, and for a free plan, it begins at once. Otherwise the answer has a payment: the client sends the shopper ' +
      'to its pay_url, and the membership begins when the notice of the payment provider arrives. A repeated request returns the ' +
      'open payment. While a membership is active, the plan costs its renew_price when that is above 0.',
    body: openBody,
    response: openedSchema,
    refuses: [vipErrors.plan_unavailable, vipErrors.too_long, vipErrors.payment_unavailable],
    repeat: 'recorded',
    statements: 10,
    handle: ({ caller, body, request, write }) =>
      write(async (tx) => {
        const now = runtime.now();
        const iso = isoOf(runtime);
        const deps = {
          ...{ payments, now, zone: runtime.settings.get(timeZone) },
          unpaidMinutes: runtime.settings.get(vipUnpaidMinutes),
        };
        const opened = await openMembership(tx, { user_id: caller.id, plan_id: body.plan_id }, deps);
        const asset = await selectAsset(tx, caller.id, now);
        if (!asset) throw new Error('the row of the membership is missing');
        if (!opened) return assetView(asset, iso);
        const { payment, expires_at } = opened;
        return {
          ...assetView(asset, iso),
          payment: {
            ...{ payment_no: payment.payment_no, pay_url: payments.payUrl(payment, request) },
            ...{ amount: toWire(payment.amount), currency: payment.currency, expires_at: iso(expires_at) },
          },
        };
      }),
  }),
  defineRoute({
    ...own,
    method: 'GET',
    path: '/api/v1/vip/coupons/monthly',
    summary: 'The coupons that I can claim this month; none without an active membership',
    response: monthlyCoupons,
    statements: 3,
    async handle({ caller }) {
      const now = runtime.now();
      const asset = await selectAsset(runtime.sql, caller.id, now);
      if (asset?.status !== 1) return [];
      const { current_plan_id: plan_id, level_id } = asset;
      const of = { user_id: caller.id, plan_id, level_id, month: monthOf(isoOf(runtime)(now)) };
      const rules = await selectMonthlyRules(runtime.sql, of);
      const names = await couponNames(runtime.sql, coupons(), rules);
      return rules.map(({ id, name, claimed, monthly_quota }, index) => ({
        ...{ rule_id: id, name, coupon_name: names[index]!, claimed, monthly_limit: monthly_quota },
      }));
    },
  }),
  defineRoute({
    ...own,
    method: 'POST',
    path: '/api/v1/vip/coupons/monthly/:rule_id/claim',
    summary: 'Claim a coupon of this month',
    params: z.object({ rule_id: idParams.shape.id }),
    response: nothing,
    refuses: [
      vipErrors.not_a_member,
      vipErrors.rule_unavailable,
      vipErrors.other_plan,
      vipErrors.other_level,
      vipErrors.quota_used,
      vipErrors.nothing_to_issue,
      vipErrors.coupon_refused,
    ],
    repeat: 'recorded',
    statements: 10,
    handle: ({ caller, params, locale, write }) =>
      write(async (tx) => {
        const now = runtime.now();
        const month = monthOf(isoOf(runtime)(now));
        await claimCoupon(tx, coupons(), { user_id: caller.id, rule_id: params.rule_id, month, now, locale });
        return null;
      }),
  }),
  defineRoute({
    ...own,
    method: 'GET',
    path: '/api/v1/vip/growth/logs',
    summary: 'My growth, newest first',
    query: pageQueryWith({}),
    response: pagedOf(growthLogSchema, maxPage),
    statements: 1,
    async handle({ caller, query, locale }) {
      const paging = pagingOf(query, { cap: maxPage });
      const { rows, total } = await selectGrowthLogs(runtime.sql, caller.id, paging);
      const iso = isoOf(runtime);
      return paged(
        rows.map((row) => growthLogView(row, labelOf(growthLabels, row.event_type, locale), iso)),
        total,
        paging,
      );
    },
  }),
];
