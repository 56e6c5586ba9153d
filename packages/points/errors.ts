import { defineErrors } from '@tradepost/core';

export const pointsErrors = defineErrors({
  not_enough_points: { code: 500, en: 'Not enough points', 'zh-CN': '积分不足' },
  too_many_points: {
    code: 500,
    en: 'An account holds at most {max} points',
    'zh-CN': '账户积分不能超过 {max}',
  },
  points_use: {
    code: 20001,
    en: 'points_use: you have only {balance} points',
    'zh-CN': 'points_use：积分不足，当前积分 {balance}',
  },
  shopper_not_found: { code: 404, en: 'user_id: there is no such shopper', 'zh-CN': 'user_id：用户不存在' },
});
