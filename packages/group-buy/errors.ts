import { defineErrors } from '@tradepost/core';

export const groupBuyErrors = defineErrors({
  group_not_found: { code: 1, en: 'Group not found', 'zh-CN': '拼团不存在' },
  too_many_groups: { code: 1, en: 'You lead {max} open groups already', 'zh-CN': '您最多可同时发起 {max} 个拼团' },
  group_ended: { code: 1, en: 'The group has failed', 'zh-CN': '拼团已失败' },
  group_full: { code: 1, en: 'The group is full', 'zh-CN': '拼团人数已满' },
  group_expired: { code: 1, en: 'The group has expired', 'zh-CN': '拼团已过期' },
  already_member: { code: 1, en: 'You are a member of this group already', 'zh-CN': '您已参加该拼团' },
  order_not_found: { code: 1, en: 'Order not found', 'zh-CN': '订单不存在' },
  order_not_open: {
    code: 1,
    en: 'Only an order that waits for payment or shipment can join a group',
    'zh-CN': '仅待付款或待发货的订单可参加拼团',
  },
  order_without_offer: {
    code: 1,
    en: 'The order has no item of this group buy',
    'zh-CN': '订单不包含该拼团商品',
  },
  order_in_group: { code: 1, en: 'The order belongs to a group already', 'zh-CN': '订单已参加其他拼团' },
  order_held: {
    code: 500,
    en: 'The group of this order is not complete, so the order can be neither shipped nor returned',
    'zh-CN': '该订单的拼团尚未成功，暂不可发货或退货',
  },
});
