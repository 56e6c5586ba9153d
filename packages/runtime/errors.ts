import { defineErrors } from '@tradepost/core';

export const runtimeErrors = defineErrors({
  key_reused: {
    code: 422,
    status: 422,
    en: 'Idempotency-Key: this key was used for another request',
    'zh-CN': 'Idempotency-Key：该键已用于其他请求',
  },
  key_in_progress: {
    code: 409,
    status: 409,
    en: 'Idempotency-Key: the first request with this key is still running',
    'zh-CN': 'Idempotency-Key：使用该键的首个请求仍在处理中',
  },
  key_outcome_unknown: {
    code: 409,
    status: 409,
    en: 'Idempotency-Key: the first request with this key was interrupted; check whether it took effect, then use a new key',
    'zh-CN': 'Idempotency-Key：使用该键的首个请求被中断，请先确认是否已生效，再换用新的键',
  },
  too_many_keys: {
    code: 429,
    status: 429,
    en: 'Idempotency-Key: more than {max} new keys in 24 hours; send requests without a key, or wait',
    'zh-CN': 'Idempotency-Key：24 小时内新键超过 {max} 个，请不带该键发送，或稍后再试',
  },
  unknown_setting: { code: 404, en: 'There is no setting {key}', 'zh-CN': '没有名为 {key} 的设置' },
  invalid_setting: { code: 400, en: '{key}: {reason}', 'zh-CN': '{key}：{reason}' },
  invalid_stored_setting: {
    code: 409,
    en: '{key}: the stored value is not valid, so nothing can be added to it; store a whole new value or go back to the default',
    'zh-CN': '{key}：已保存的值无效，无法在其基础上修改，请重新设置或恢复默认值',
  },
  fixed_setting: {
    code: 409,
    en: '{key} is set in the configuration file, which wins over the table',
    'zh-CN': '{key} 已在配置文件中设定，以配置文件为准',
  },
  secrets_unusable: {
    code: 503,
    status: 503,
    en: 'Secrets cannot be stored, because their key file cannot be used; tradepost doctor says why',
    'zh-CN': '密钥文件不可用，无法保存机密信息；原因请运行 tradepost doctor 查看',
  },
  secret_unreadable: {
    code: 503,
    status: 503,
    en: '{name}: the stored secret cannot be decrypted with the keys of the key file; tradepost doctor says why',
    'zh-CN': '{name}：无法用密钥文件中的密钥解密已保存的机密信息；原因请运行 tradepost doctor 查看',
  },
  read_only_setting: {
    code: 409,
    en: '{key} can not be set: the program records it itself',
    'zh-CN': '{key} 由系统自动记录，不可设置',
  },
});
