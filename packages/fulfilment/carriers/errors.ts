import { defineErrors } from '@tradepost/core';

export const carrierErrors = defineErrors({
  shipment_not_found: { code: 404, en: 'Shipment not found', 'zh-CN': '物流单不存在' },
  sync_disabled: {
    code: 500,
    en: 'Carrier sync is switched off (logistics_router.enabled)',
    'zh-CN': '物流同步已关闭（logistics_router.enabled）',
  },
  sync_not_configured: {
    code: 500,
    en: 'No carrier service is configured. Not set: {settings}',
    'zh-CN': '未配置物流查询服务，缺少设置：{settings}',
  },
  no_tracking_no: { code: 500, en: 'The shipment has no tracking number', 'zh-CN': '物流单没有快递单号' },
  no_company: { code: 500, en: 'The shipment has no carrier', 'zh-CN': '物流单没有快递公司' },
  company_not_synced: {
    code: 500,
    en: 'Shipments of the company "{company}" can not be synced. Known companies: {known}',
    'zh-CN': '快递公司“{company}”不支持物流同步，支持的公司：{known}',
  },
});
