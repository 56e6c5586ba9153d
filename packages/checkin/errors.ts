import { defineErrors } from '@tradepost/core';

export const checkinErrors = defineErrors({
  already_checked_in: { code: 30001, en: 'You have already checked in today', 'zh-CN': '今日已签到' },
  account_full: { code: 30001, en: 'Your account cannot hold more points', 'zh-CN': '账户积分已达上限' },
  day_twice: {
    code: 400,
    en: 'There are two rules for day {day}; a day has at most one',
    'zh-CN': '第 {day} 天有两条规则，每天最多一条',
  },
});
