import { defineErrors } from '@tradepost/core';

export const analyticsErrors = defineErrors({
  invalid_day: {
    code: 400,
    en: '{field}: must be a day such as 2026-03-01',
    'zh-CN': '{field}：日期格式应为 2026-03-01',
  },
  days_reversed: {
    code: 400,
    en: 'end_date: must not be before start_date',
    'zh-CN': 'end_date：不能早于 start_date',
  },
  too_many_days: {
    code: 400,
    en: 'end_date: at most {max} days are possible',
    'zh-CN': 'end_date：最多查询 {max} 天',
  },
});
