import { defineErrors } from '@tradepost/core';

export const orderErrors = defineErrors({
  address_not_found: { code: 20001, en: 'Delivery address not found', 'zh-CN': '收货地址不存在' },
  cart_empty: { code: 20001, en: 'Cart is empty', 'zh-CN': '购物车为空' },
  no_valid_products: { code: 20001, en: 'No valid products selected', 'zh-CN': '没有可结算的商品' },
  too_many_lines: { code: 20001, en: 'At most {max} lines fit into one order', 'zh-CN': '单个订单最多 {max} 种商品' },
  amount_too_large: { code: 20001, en: 'The order amount is too large', 'zh-CN': '订单金额过大' },
  insufficient_stock: { code: 20001, en: 'Insufficient stock', 'zh-CN': '库存不足' },
  activity_not_found: { code: 20001, en: 'Activity product not found', 'zh-CN': '活动商品不存在' },
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
});
