import { defineErrors } from '@tradepost/core';

export const inventoryErrors = defineErrors({
  external_refused: {
    code: 20001,
    en: 'The warehouse refuses the reservation: {reason}',
    'zh-CN': '仓库拒绝预占库存：{reason}',
  },
  external_unavailable: {
    code: 20001,
    en: 'The warehouse is busy or does not answer: please try again',
    'zh-CN': '仓库系统繁忙或暂无响应，请稍后重试',
  },
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
  task_not_found: { code: 404, en: 'Task not found', 'zh-CN': '任务不存在' },
  task_not_failed: {
    code: 409,
    en: 'Only a failed task can be retried: this one is {status}',
    'zh-CN': '仅失败的任务可重试：当前状态为 {status}',
  },
  task_without_order: {
    code: 409,
    en: 'The order of this reservation was never written: there is nothing to retry',
    'zh-CN': '该预占对应的订单未生成，无需重试',
  },
  later_task: {
    code: 409,
    en: 'A later task of the same document is open or has been carried out',
    'zh-CN': '同一单据存在进行中或已完成的后续任务',
  },
  task_ended: {
    code: 409,
    en: 'Only an open task can be given up: this one is {status}',
    'zh-CN': '仅未结束的任务可终止：当前状态为 {status}',
  },
  task_awaited: {
    code: 409,
    en: 'Somebody waits for the answer of this reservation; it ends by itself',
    'zh-CN': '该预占正在等待应答，稍后会自动结束',
  },
  callback_id_used: {
    code: 409,
    en: 'callback_id: {callback_id} was used for another request_id',
    'zh-CN': 'callback_id：{callback_id} 已用于其他 request_id',
  },
  callbacks_off: {
    code: 403,
    en: 'Callbacks are switched off (external_wms.callback_enabled)',
    'zh-CN': '回调已关闭（external_wms.callback_enabled）',
  },
  callback_app_key: { code: 400, en: 'app_key: is not known here', 'zh-CN': 'app_key：无法识别' },
  callback_signature: { code: 400, en: 'sign: the signature is wrong', 'zh-CN': 'sign：签名错误' },
  callback_timestamp: {
    code: 400,
    en: 'timestamp: is too far from our clock',
    'zh-CN': 'timestamp：超出允许的时间范围',
  },
  too_many_warehouses: { code: 409, en: 'There are at most {max} warehouses', 'zh-CN': '仓库最多 {max} 个' },
  callback_body: { code: 400, en: 'body: {reason}', 'zh-CN': 'body：{reason}' },
  callback_nonce: { code: 409, en: 'nonce: was used before', 'zh-CN': 'nonce：已被使用' },
  callback_unknown_task: {
    code: 500,
    en: 'request_id: there is no task {request_id}',
    'zh-CN': 'request_id：任务 {request_id} 不存在',
  },
});
