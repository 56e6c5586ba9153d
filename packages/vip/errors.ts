import { defineErrors } from '@tradepost/core';

export const vipErrors = defineErrors({
  plan_not_found: { code: 404, en: 'Plan not found', 'zh-CN': '套餐不存在' },
  level_not_found: { code: 404, en: 'Level not found', 'zh-CN': '等级不存在' },
  rule_not_found: { code: 404, en: 'Coupon rule not found', 'zh-CN': '赠券规则不存在' },
  price_not_found: { code: 404, en: 'Member price not found', 'zh-CN': '会员价不存在' },
  too_many: { code: 500, en: 'At most {max} rows: delete one first', 'zh-CN': '最多 {max} 条，请先删除一些' },
  level_in_use: {
    code: 500,
    en: 'The level has member prices: delete them first',
    'zh-CN': '等级下有会员价，请先删除',
  },
  level_unknown: { code: 400, en: 'level_id: no such level', 'zh-CN': 'level_id：等级不存在' },
  plan_unknown: { code: 400, en: 'plan_id: no such plan', 'zh-CN': 'plan_id：套餐不存在' },
  coupon_unknown: { code: 400, en: 'coupon_id: no such coupon', 'zh-CN': 'coupon_id：优惠券不存在' },
  sku_unknown: { code: 400, en: 'sku_id: no such SKU', 'zh-CN': 'sku_id：商品规格不存在' },
  product_unknown: { code: 400, en: 'product_id: no such product', 'zh-CN': 'product_id：商品不存在' },
  price_needed: {
    code: 400,
    en: 'vip_price: a price or vip_discount_rate must be above 0',
    'zh-CN': 'vip_price：会员价或 vip_discount_rate 须大于 0',
  },
  price_exists: {
    code: 500,
    en: 'This SKU has a price for this level already',
    'zh-CN': '该规格在此等级下已有会员价',
  },
  plan_unavailable: { code: 30001, en: 'The plan is not available', 'zh-CN': '套餐不存在或已下架' },
  too_long: {
    code: 30001,
    en: 'The membership would end more than {years} years from now',
    'zh-CN': '会员有效期不能超过 {years} 年',
  },
  payment_unavailable: {
    code: 30001,
    en: 'The shop can not take payments at the moment',
    'zh-CN': '本店暂时无法收款',
  },
  not_a_member: { code: 30001, en: 'Only active members can claim this coupon', 'zh-CN': '仅有效会员可领取' },
  rule_unavailable: { code: 30001, en: 'The coupon is not available', 'zh-CN': '赠券规则不存在或已停用' },
  other_plan: { code: 30001, en: 'The coupon is for another plan', 'zh-CN': '当前套餐不可领取该券' },
  other_level: { code: 30001, en: 'The coupon is for another level', 'zh-CN': '当前等级不可领取该券' },
  quota_used: { code: 30001, en: 'The coupons of this month are used up', 'zh-CN': '本月领取次数已用完' },
  nothing_to_issue: {
    code: 30001,
    en: 'The rule has no coupon at the moment',
    'zh-CN': '该规则暂无可发放的优惠券',
  },
  coupon_refused: { code: 30001, en: 'The coupon can not be issued: {reason}', 'zh-CN': '优惠券发放失败：{reason}' },
});
