import { defineErrors } from '@tradepost/core';

export const changeLogErrors = defineErrors({
  invalid_moment: {
    code: 400,
    en: '{field} must be a date or a time, for example 2026-03-01 or 2026-03-01T09:30:00+08:00',
    'zh-CN': '{field} 必须是日期或时间，例如 2026-03-01 或 2026-03-01T09:30:00+08:00',
  },
});
