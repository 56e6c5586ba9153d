import { defineErrors } from '@tradepost/core';

export const gatewayErrors = defineErrors({
  token_not_found: { code: 404, en: 'There is no API token {id}', 'zh-CN': 'API 令牌 {id} 不存在' },
  user_not_found: { code: 404, en: 'There is no shopper {id}', 'zh-CN': '用户 {id} 不存在' },
  token_user_not_found: {
    code: 404,
    en: 'user_id: there is no enabled shopper {id}',
    'zh-CN': 'user_id：用户 {id} 不存在或已停用',
  },
  token_revoked: {
    code: 409,
    en: 'The token {id} was revoked: a revoked token can not be changed',
    'zh-CN': '令牌 {id} 已撤销，不能再修改',
  },
  token_expired: {
    code: 409,
    en: 'The token {id} has expired: give it another expires_at first',
    'zh-CN': '令牌 {id} 已过期，请先更新 expires_at',
  },
  invalid_moment: {
    code: 400,
    en: '{field}: must be a date (2026-03-01) or a time (2026-03-01 09:30:00)',
    'zh-CN': '{field}：须为日期（2026-03-01）或时间（2026-03-01 09:30:00）',
  },
  moment_passed: { code: 400, en: '{field}: must be in the future', 'zh-CN': '{field}：须为将来的时间' },
  key_not_kept: {
    code: 400,
    en: 'Idempotency-Key: not taken here, as the answer holds a secret that must not be kept; after a lost answer, rotate or revoke the token',
    'zh-CN': 'Idempotency-Key：此接口的应答含有不可留存的密钥，不支持该请求头；应答丢失时请轮换或撤销令牌',
  },
  no_setting: {
    code: 400,
    en: '{field}: there is no such setting of the rate limiter',
    'zh-CN': '{field}：限流没有该设置项',
  },
  setting_twice: { code: 400, en: '{field}: is given twice', 'zh-CN': '{field}：重复给出' },
  nothing_to_set: {
    code: 400,
    en: 'body: must name at least one setting, or hold "value" for a single one',
    'zh-CN': 'body：至少给出一个设置项；修改单个设置时须给出 value',
  },
  setting_range: {
    code: 400,
    en: '{field}: must be a whole number from {min} to {max}',
    'zh-CN': '{field}：须为 {min} 到 {max} 的整数',
  },
  setting_switch: { code: 400, en: '{field}: must be true or false', 'zh-CN': '{field}：须为 true 或 false' },
  setting_invalid: { code: 400, en: '{field}: {reason}', 'zh-CN': '{field}：{reason}' },
  fixed_by_file: {
    code: 409,
    en: '{field} is set in the configuration file ({key}), which wins',
    'zh-CN': '{field} 已在配置文件中设定（{key}），以配置文件为准',
  },
  usage_key: {
    code: 400,
    en: 'key: must be the id of the {kind}',
    'zh-CN': 'key：须为 {kind} 的编号',
  },
  usage_address: {
    code: 400,
    en: 'key: must be an IP address or its key (203.0.113)',
    'zh-CN': 'key：须为 IP 地址或其键（203.0.113）',
  },
  usage_model: {
    code: 400,
    en: 'key: must be the name of a model',
    'zh-CN': 'key：须为模型名称',
  },
  too_many_tokens: {
    code: 409,
    en: 'A shopper holds at most {max} API tokens: revoke one first',
    'zh-CN': '每个用户最多 {max} 个 API 令牌，请先吊销一个',
  },
  store_down: {
    code: 503,
    status: 503,
    en: 'The store of the rate limiter does not answer: {reason}',
    'zh-CN': '限流存储无应答：{reason}',
  },
  no_gateway: {
    code: 409,
    en: 'No gateway is running: without Redis the limiter keeps its counts in the gateway’s memory',
    'zh-CN': '没有正在运行的网关：未使用 Redis 时，限流计数保存在网关进程内存中',
  },
});
