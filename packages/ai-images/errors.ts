import { defineErrors } from '@tradepost/core';

export const aiImageErrors = defineErrors({
  model_not_found: { code: 404, en: 'AI model not found', 'zh-CN': 'AI 模型不存在' },
  too_many_models: { code: 409, en: 'There are {max} AI models already', 'zh-CN': 'AI 模型已达 {max} 个' },
  endpoint_address: {
    code: 400,
    en: 'endpoint: it must be an http or https address without a password',
    'zh-CN': 'endpoint：须为不含密码的 http 或 https 地址',
  },
  endpoint_private: {
    code: 400,
    en: 'endpoint: the host has a private address. ALLOWED_PRIVATE_NETWORKS of the server allows private networks',
    'zh-CN': 'endpoint：该主机为内网地址。服务器的 ALLOWED_PRIVATE_NETWORKS 可放行内网网段',
  },
  endpoint_without_key: {
    code: 400,
    en: 'api_key: send the key again when the endpoint or the driver changes',
    'zh-CN': 'api_key：修改 endpoint 或 driver 时须重新填写密钥',
  },
  default_disabled: {
    code: 400,
    en: 'status: the default model cannot be disabled',
    'zh-CN': 'status：默认模型不能停用',
  },
  no_default_model: {
    code: 400,
    en: 'model_id: there is no default AI model, please choose one',
    'zh-CN': 'model_id：没有默认 AI 模型，请选择模型',
  },
  model_disabled: {
    code: 400,
    en: 'model_id: the AI model {name} is switched off',
    'zh-CN': 'model_id：AI 模型 {name} 已停用',
  },
  no_ref_image: {
    code: 400,
    en: 'ref_image_url: the AI model {name} takes no reference image',
    'zh-CN': 'ref_image_url：AI 模型 {name} 不支持参考图',
  },
  ref_image_unknown: {
    code: 400,
    en: 'ref_image_url: it must be an uploaded picture or a public http address',
    'zh-CN': 'ref_image_url：须为已上传的图片或公网 http 地址',
  },
  too_many_of_staff: {
    code: 429,
    en: 'At most {max} of your AI image tasks run at once, please wait until one is done',
    'zh-CN': '您最多同时进行 {max} 个 AI 图片任务，请等待任务完成',
  },
  too_many_tasks: {
    code: 429,
    en: 'At most {max} AI image tasks of the shop run at once, please try again later',
    'zh-CN': '店铺最多同时进行 {max} 个 AI 图片任务，请稍后重试',
  },
  task_not_found: { code: 404, en: 'AI image task not found', 'zh-CN': 'AI 图片任务不存在' },
});

/** Why a task has failed. The row of the task has the name and the values; readers get the text in their language. */
export const taskFailures = defineErrors({
  refused: { code: 500, en: 'The service refused the request: {reason}', 'zh-CN': '服务拒绝了请求：{reason}' },
  unavailable: { code: 500, en: 'The service did not do it: {reason}', 'zh-CN': '服务未能完成：{reason}' },
  wrong_answer: {
    code: 500,
    en: 'The answer of the service cannot be used: {reason}',
    'zh-CN': '服务返回的内容无法使用：{reason}',
  },
  ref_image: {
    code: 500,
    en: 'The reference image cannot be read: {reason}',
    'zh-CN': '无法读取参考图：{reason}',
  },
  not_stored: { code: 500, en: 'The pictures were not stored: {reason}', 'zh-CN': '图片未能保存：{reason}' },
  too_late: {
    code: 500,
    en: 'It was not done within {minutes} minutes',
    'zh-CN': '未能在 {minutes} 分钟内完成',
  },
  interrupted: {
    code: 500,
    en: 'It was interrupted {times} times',
    'zh-CN': '任务被中断 {times} 次',
  },
  model_gone: {
    code: 500,
    en: 'The AI model was removed, switched off or has no usable key',
    'zh-CN': 'AI 模型已删除、已停用或没有可用的密钥',
  },
});
export type FailureName = keyof typeof taskFailures;
