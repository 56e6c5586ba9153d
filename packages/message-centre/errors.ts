import { defineErrors } from '@tradepost/core';

export const messageCentreErrors = defineErrors({
  shopper_not_found: { code: 404, en: 'user_id: there is no such shopper', 'zh-CN': 'user_id：用户不存在' },
  message_not_found: { code: 404, en: 'Message not found', 'zh-CN': '消息不存在' },
  markup: {
    code: 400,
    en: '{field}: must be plain text without HTML tags',
    'zh-CN': '{field}：须为纯文本，不能包含 HTML 标签',
  },
  too_many_sent: {
    code: 429,
    en: 'At most {max} messages are sent in a minute: try again later',
    'zh-CN': '每分钟最多发送 {max} 条消息，请稍后再试',
  },
  too_many_broadcasts: {
    code: 429,
    en: 'At most {max} messages to all shoppers are sent in 24 hours',
    'zh-CN': '24 小时内最多发送 {max} 条全员消息',
  },
});
