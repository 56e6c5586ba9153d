import { defineErrors } from '@tradepost/core';

export const orderErrors = defineErrors({
  address_not_found: { code: 20001, en: 'Delivery address not found', 'zh-CN': '收货地址不存在' },
  cart_empty: { code: 20001, en: 'Cart is empty', 'zh-CN': '购物车为空' },
  no_valid_products: { code: 20001, en: 'No valid products selected', 'zh-CN': '没有可结算的商品' },
  too_many_lines: { code: 20001, en: 'At most {max} lines fit into one order', 'zh-CN': '单个订单最多 {max} 种商品' },
  amount_too_large: { code: 20001, en: 'The order amount is too large', 'zh-CN': '订单金额过大' },
  insufficient_stock: { code: 20001, en: 'Insufficient stock', 'zh-CN': '库存不足' },
  cart_full: {
    code: 409,
    en: 'A cart holds at most {max} lines: remove one first',
    'zh-CN': '购物车最多 {max} 种商品，请先删除一些',
  },
  cart_changed: {
    code: 20001,
    en: 'The cart has changed meanwhile: please try again',
    'zh-CN': '购物车已变更，请重新提交',
  },
  activity_not_found: { code: 20001, en: 'Activity product not found', 'zh-CN': '活动商品不存在' },
  invalid_time: {
    code: 400,
    en: '{field}: must be a date (2026-03-01) or a time (2026-03-01T09:30:00)',
    'zh-CN': '{field}：须为日期（2026-03-01）或时间（2026-03-01T09:30:00）',
  },
  order_not_found: { code: 404, en: 'Order not found', 'zh-CN': '订单不存在' },
  cannot_pay: {
    code: 500,
    en: 'Order not found or cannot pay in current status',
    'zh-CN': '订单不存在或当前状态不可支付',
  },
  cannot_cancel: {
    code: 500,
    en: 'Order not found or cannot cancel in current status',
    'zh-CN': '订单不存在或当前状态不可取消',
  },
  too_many_notes: { code: 500, en: 'An order holds at most {max} notes', 'zh-CN': '每个订单最多 {max} 条备注' },
  cannot_reprice: { code: 500, en: 'Only an unpaid order can be repriced', 'zh-CN': '仅待付款订单可改价' },
  repriced_twice: { code: 400, en: 'items: a line is there twice', 'zh-CN': 'items：同一商品行重复' },
  foreign_items: {
    code: 400,
    en: 'items: order {id} has no line {items}',
    'zh-CN': 'items：订单 {id} 没有商品行 {items}',
  },
  price_too_low: { code: 500, en: 'The order must cost at least 0.01', 'zh-CN': '改价后的应付金额不能低于 0.01' },
  cannot_remind: { code: 500, en: 'Only an unpaid order can be reminded of', 'zh-CN': '仅待付款订单可催付' },
  no_sender: { code: 500, en: 'No sender is set up for {channel}', 'zh-CN': '渠道 {channel} 未配置发送服务' },
  sender_not_ready: {
    code: 500,
    en: 'The sender for {channel} is not set up: {missing} is missing',
    'zh-CN': '渠道 {channel} 的发送服务未配置：缺少 {missing}',
  },
  reminded_already: {
    code: 500,
    en: 'There was a reminder on this channel in the last {minutes} minutes',
    'zh-CN': '{minutes} 分钟内已通过该渠道催付',
  },
  cannot_close_paid: {
    code: 500,
    en: 'A paid order can not be closed: refund it by an after-sale',
    'zh-CN': '已付款订单不可关闭，请走售后退款',
  },
  cannot_close_completed: { code: 500, en: 'A completed order can not be closed', 'zh-CN': '已完成订单不可关闭' },
  already_cancelled: { code: 500, en: 'The order is cancelled already', 'zh-CN': '订单已取消' },
  payment_not_found: { code: 404, en: 'Payment not found', 'zh-CN': '支付单不存在' },
  instant_pay_off: {
    code: 500,
    en: 'Instant payment is off in this shop: open a payment at a payment provider with POST /api/pay/create',
    'zh-CN': '本店未开启即时支付，请通过 POST /api/pay/create 选择支付渠道付款',
  },
  nothing_to_pay: {
    code: 500,
    en: 'The order costs 0.00: pay it with POST /api/v1/orders/:id/pay, without a payment provider',
    'zh-CN': '订单应付金额为 0.00，请通过 POST /api/v1/orders/:id/pay 直接支付，无需选择支付渠道',
  },
  provider_off: {
    code: 500,
    en: 'The setting {setting} names the payment provider {provider}, whose module is switched off',
    'zh-CN': '设置 {setting} 指定的支付渠道 {provider} 所属模块未启用',
  },
  provider_not_ready: {
    code: 500,
    en: 'Payment provider {provider} is not set up: {missing} is missing',
    'zh-CN': '支付渠道 {provider} 未配置：缺少 {missing}',
  },
  unknown_channel: {
    code: 400,
    en: 'channel: payment provider {provider} has {channels}',
    'zh-CN': 'channel：支付渠道 {provider} 支持 {channels}',
  },
  pay_param: {
    code: 400,
    en: 'params: {channel} needs {param}',
    'zh-CN': 'params：{channel} 缺少 {param}',
  },
  currency_unsupported: {
    code: 500,
    en: 'Payment provider {provider} does not take {currency}, the currency of {setting}',
    'zh-CN': '支付渠道 {provider} 不支持 {setting} 设置的币种 {currency}',
  },
  provider_refused: {
    code: 500,
    en: 'Payment provider {provider} refused the payment: {reason}',
    'zh-CN': '支付渠道 {provider} 拒绝了该支付：{reason}',
  },
  provider_away: {
    code: 503,
    status: 503,
    en: 'Payment provider {provider} does not answer: try again',
    'zh-CN': '支付渠道 {provider} 暂时无响应，请重试',
  },
  signature_invalid: { code: 403, en: 'The signature is missing or wrong', 'zh-CN': '签名缺失或错误' },
  signature_expired: {
    code: 403,
    en: 'The timestamp is too far from our clock',
    'zh-CN': '时间戳超出允许范围',
  },
  nonce_reused: {
    code: 409,
    en: 'The nonce was used with another message',
    'zh-CN': '随机串已被其他消息使用',
  },
  amount_mismatch: {
    code: 409,
    en: 'Amount or currency differ from the payment',
    'zh-CN': '金额或币种与支付单不一致',
  },
  trade_conflict: {
    code: 409,
    en: 'The trade number belongs to another payment',
    'zh-CN': '交易号属于其他支付单',
  },
  refund_not_found: { code: 404, en: 'Refund not found', 'zh-CN': '退款单不存在' },
});

/** Returns a caught value as an `Error`. */
export const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
