import { defineErrors } from '@tradepost/core';

export const postgresErrors = defineErrors({
  database_away: {
    code: 503,
    status: 503,
    en: 'The database is being started again, please try again',
    'zh-CN': '数据库正在重新启动，请稍后重试',
  },
  unknown_outcome: {
    code: 503,
    status: 503,
    en: 'The database connection was lost; check whether the request took effect before repeating it',
    'zh-CN': '数据库连接中断，请先确认操作是否已生效再重试',
  },
});
