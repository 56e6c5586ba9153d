import { fill, type Localized } from '@tradepost/core';
import { type LogRemarks, pointsType } from '@tradepost/points';
import { selectStreakDays } from './check-in-store.ts';

const remark: Localized = { en: 'Check-in, day {days}', 'zh-CN': '签到，连续第 {days} 天' };

/** A check-in that the retention has deleted has the label of its type. */
export const checkInRemarks: LogRemarks = {
  type: pointsType.checkIn,
  async remarksOf(sql, logs, locale) {
    const found = await selectStreakDays(
      sql,
      logs.map(({ related_id }) => related_id),
    );
    return new Map(
      logs.flatMap(({ id, related_id }) => {
        const days = found.get(related_id);
        return days === undefined ? [] : [[id, fill(remark[locale], { days })] as const];
      }),
    );
  },
};
