import { defineErrors } from '@tradepost/core';

export const webhookErrors = defineErrors({
  endpoint_not_found: { code: 404, en: 'Webhook endpoint not found', 'zh-CN': 'Webhook 端点不存在' },
  delivery_not_found: { code: 404, en: 'Webhook delivery not found', 'zh-CN': 'Webhook 投递记录不存在' },
  too_many_endpoints: {
    code: 409,
    en: 'There are {max} webhook endpoints already',
    'zh-CN': 'Webhook 端点已达 {max} 个',
  },
  not_http: {
    code: 400,
    en: 'url: must be an address beginning with http:// or https://',
    'zh-CN': 'url：须为 http:// 或 https:// 开头的地址',
  },
  has_credentials: {
    code: 400,
    en: 'url: must not contain a user name or a password',
    'zh-CN': 'url：不得包含用户名或密码',
  },
  private_address: {
    code: 400,
    en: 'url: the host has a private or reserved address; the operator can allow it with ALLOWED_PRIVATE_NETWORKS',
    'zh-CN': 'url：该主机为内网或保留地址；运维人员可用 ALLOWED_PRIVATE_NETWORKS 放行',
  },
  unknown_kind: {
    code: 400,
    en: 'event_kinds: there is no event {kind}',
    'zh-CN': 'event_kinds：没有事件 {kind}',
  },
  invalid_moment: {
    code: 400,
    en: '{field}: must be a date and time',
    'zh-CN': '{field}：须为日期时间',
  },
  nothing_to_replay: {
    code: 400,
    en: 'delivery_ids: name deliveries, or set failed or since',
    'zh-CN': 'delivery_ids：请指定投递记录，或填写 failed 或 since',
  },
  key_not_kept: {
    code: 400,
    en: 'Idempotency-Key: not accepted here, because the answer carries a secret',
    'zh-CN': 'Idempotency-Key：该接口的响应含密钥，不支持',
  },
});
