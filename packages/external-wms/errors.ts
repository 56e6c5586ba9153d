import { defineErrors } from '@tradepost/core';

export const externalWmsErrors = defineErrors({
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
  callback_body: { code: 400, en: 'body: {reason}', 'zh-CN': 'body：{reason}' },
  callback_nonce: { code: 409, en: 'nonce: was used before', 'zh-CN': 'nonce：已被使用' },
  callback_unknown_task: {
    code: 500,
    en: 'request_id: there is no task {request_id}',
    'zh-CN': 'request_id：任务 {request_id} 不存在',
  },
});
