import { defineErrors } from '@tradepost/core';

export const marketingErrors = defineErrors({
  coupon_not_found: { code: 404, en: 'Coupon {id} not found', 'zh-CN': '优惠券 {id} 不存在' },
  reduction_not_found: { code: 404, en: 'Full reduction {id} not found', 'zh-CN': '满减活动 {id} 不存在' },
  invalid_time: {
    code: 400,
    en: '{field}: must be a date (2026-03-01) or a time (2026-03-01T09:30:00)',
    'zh-CN': '{field}：须为日期（2026-03-01）或时间（2026-03-01T09:30:00）',
  },
  ends_before_start: { code: 400, en: 'end_at: must be after start_at', 'zh-CN': 'end_at：须晚于 start_at' },
  invalid_amount_off: {
    code: 400,
    en: 'discount: must be an amount above 0',
    'zh-CN': 'discount：减免金额须大于 0',
  },
  invalid_rate: {
    code: 400,
    en: 'discount: must be a rate above 0 and at most 1 for a coupon of type 2, such as 0.9',
    'zh-CN': 'discount：折扣券须填写大于 0 且不超过 1 的折扣率，如 0.9',
  },
  invalid_level: {
    code: 400,
    en: 'target_value: must be the id of a member level',
    'zh-CN': 'target_value：须为会员等级 ID',
  },
  too_many_coupons: { code: 409, en: 'There are {max} coupons already', 'zh-CN': '优惠券已达 {max} 张' },
  cannot_send_disabled: { code: 500, en: 'The coupon is disabled', 'zh-CN': '优惠券已停用' },
  cannot_send_ended: { code: 500, en: 'The coupon has ended', 'zh-CN': '优惠券已过期' },
  tiers_not_ascending: {
    code: 400,
    en: 'tiers: min and reduce must rise from tier to tier',
    'zh-CN': 'tiers：各档 min 与 reduce 须递增',
  },
  reduce_above_min: {
    code: 400,
    en: 'tiers: reduce must be above 0 and at most min',
    'zh-CN': 'tiers：reduce 须大于 0 且不超过 min',
  },
  too_many_reductions: { code: 409, en: 'There are {max} full reductions already', 'zh-CN': '满减活动已达 {max} 个' },
  too_many_enabled: {
    code: 409,
    en: 'At most {max} full reductions can be enabled at a time',
    'zh-CN': '最多同时启用 {max} 个满减活动',
  },
  // A claim. Each refusal has a text of its own.
  claim_not_found: { code: 30001, en: 'Coupon not found', 'zh-CN': '优惠券不存在' },
  claim_disabled: { code: 30001, en: 'The coupon is not available', 'zh-CN': '优惠券已停用' },
  claim_not_started: { code: 30001, en: 'The coupon is not available yet', 'zh-CN': '优惠券未到领取时间' },
  claim_ended: { code: 30001, en: 'The coupon has ended', 'zh-CN': '优惠券已过期' },
  claim_not_for_shopper: {
    code: 30001,
    en: 'The coupon is not for your account',
    'zh-CN': '您不符合该优惠券的领取条件',
  },
  claim_sold_out: { code: 30001, en: 'All coupons have been claimed', 'zh-CN': '优惠券已领完' },
  claim_limit_reached: {
    code: 30001,
    en: 'You have claimed this coupon {max} times already',
    'zh-CN': '每人限领 {max} 张，您已领取',
  },
  // An order.
  chosen_not_found: {
    code: 20001,
    en: 'coupon_ids: you have no coupon {id}',
    'zh-CN': 'coupon_ids：您没有优惠券 {id}',
  },
  chosen_used: {
    code: 20001,
    en: 'coupon_ids: coupon {id} is used already',
    'zh-CN': 'coupon_ids：优惠券 {id} 已使用',
  },
  chosen_expired: { code: 20001, en: 'coupon_ids: coupon {id} has expired', 'zh-CN': 'coupon_ids：优惠券 {id} 已过期' },
  chosen_not_started: {
    code: 20001,
    en: 'coupon_ids: coupon {id} is not valid yet',
    'zh-CN': 'coupon_ids：优惠券 {id} 尚未生效',
  },
});
