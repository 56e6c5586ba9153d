import { defineErrors } from '@tradepost/core';

export const shipmentErrors = defineErrors({
  order_not_found: { code: 404, en: 'Order not found', 'zh-CN': '订单不存在' },
  cannot_ship: { code: 500, en: 'Cannot ship in current status', 'zh-CN': '当前状态不可发货' },
  unsupported_delivery_type: { code: 500, en: 'Unsupported delivery type', 'zh-CN': '不支持的配送方式' },
  shipped_twice: {
    code: 500,
    en: 'The order is in the list twice: its first shipment counts',
    'zh-CN': '订单在列表中重复，以第一条为准',
  },
  reship_needs_case: { code: 500, en: 'Reship requires an after-sale case', 'zh-CN': '补发须关联售后单' },
  company_required: { code: 500, en: 'Please select an express company', 'zh-CN': '请选择快递公司' },
  tracking_no_required: { code: 500, en: 'Tracking number is required', 'zh-CN': '请填写快递单号' },
  rider_name_required: { code: 500, en: 'Rider name is required', 'zh-CN': '请填写配送员姓名' },
  rider_phone_required: { code: 500, en: 'Rider phone is required', 'zh-CN': '请填写配送员电话' },
});
