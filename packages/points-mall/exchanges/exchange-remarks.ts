import { fill, type Localized } from '@tradepost/core';
import { type LogRemarks, pointsType } from '@tradepost/points';
import { selectExchangeNumbers } from './exchange-store.ts';

const placed: Localized = { en: 'Exchange {exchange_no}', 'zh-CN': '积分兑换 {exchange_no}' };
const cancelled: Localized = {
  en: 'Exchange {exchange_no} cancelled',
  'zh-CN': '积分兑换 {exchange_no} 已取消，积分退回',
};

export const exchangeRemarks: LogRemarks = {
  type: pointsType.exchange,
  async remarksOf(sql, logs, locale) {
    const numbers = await selectExchangeNumbers(
      sql,
      logs.map(({ related_id }) => related_id),
    );
    return new Map(
      logs.flatMap(({ id, related_id, points }) => {
        const exchange_no = numbers.get(related_id);
        const remark = points < 0 ? placed : cancelled;
        return exchange_no === undefined ? [] : [[id, fill(remark[locale], { exchange_no })] as const];
      }),
    );
  },
};
