import { defineErrors } from '@tradepost/core';

export const inventoryErrors = defineErrors({
  warehouse_not_found: { code: 404, en: 'Warehouse not found', 'zh-CN': '仓库不存在' },
  warehouse_code_taken: {
    code: 409,
    en: 'code: there is a warehouse {code} already',
    'zh-CN': 'code：仓库编码 {code} 已存在',
  },
  warehouse_disabled: { code: 403, en: 'The warehouse {name} is disabled', 'zh-CN': '仓库 {name} 已停用' },
  warehouse_too_full: {
    code: 409,
    en: 'With this warehouse the stock of a SKU would be more than {max}',
    'zh-CN': '启用该仓库后，商品库存将超过 {max}',
  },
  stock_not_found: { code: 404, en: 'Stock record not found', 'zh-CN': '库存记录不存在' },
  document_not_found: { code: 404, en: 'Document not found', 'zh-CN': '单据不存在' },
  document_completed: {
    code: 409,
    en: 'The document is completed: only a draft can be changed, completed or canceled',
    'zh-CN': '单据已完成：仅草稿可修改、完成或取消',
  },
  document_canceled: {
    code: 409,
    en: 'The document is canceled: only a draft can be changed, completed or canceled',
    'zh-CN': '单据已取消：仅草稿可修改、完成或取消',
  },
  document_being_changed: {
    code: 409,
    en: 'Somebody is changing the document: please look at it again',
    'zh-CN': '单据正在被他人修改，请刷新后重试',
  },
  document_number_taken: {
    code: 409,
    en: 'No free document number was found: please try again',
    'zh-CN': '单据编号冲突，请重试',
  },
  document_written: {
    code: 409,
    en: 'There is a document for {biz_no} already',
    'zh-CN': '{biz_no} 的单据已存在',
  },
  no_such_sku: { code: 400, en: 'items: there is no SKU {sku_id}', 'zh-CN': 'items：商品规格 {sku_id} 不存在' },
  insufficient_free_stock: {
    code: 409,
    en: '{title} (SKU {sku_id}): {qty} to take, but only {free} free: {on_hand} on hand, {reserved} reserved by orders',
    'zh-CN': '{title}（SKU {sku_id}）：需出库 {qty}，可用仅 {free}：现有 {on_hand}，订单已占用 {reserved}',
  },
  stock_too_large: {
    code: 409,
    en: '{title} (SKU {sku_id}): its stock would be more than {max}',
    'zh-CN': '{title}（SKU {sku_id}）：库存将超过 {max}',
  },
  invalid_moment: {
    code: 400,
    en: '{field}: must be a date (2026-03-01) or a time (2026-03-01 09:30:00)',
    'zh-CN': '{field}：须为日期（2026-03-01）或时间（2026-03-01 09:30:00）',
  },
  too_many_warehouses: { code: 409, en: 'There are at most {max} warehouses', 'zh-CN': '仓库最多 {max} 个' },
});
