import { isoInZone, type Labels, type Locale, type Localized, labelOf } from '@tradepost/core';
import { type PointsLog, pointsType } from './points-log.ts';

/** By type, as the clients show them. */
export const typeLabels: Labels = {
  1: { en: 'Check-in', 'zh-CN': '签到' },
  2: { en: 'Order deduction', 'zh-CN': '订单抵扣' },
  3: { en: 'Exchange', 'zh-CN': '积分兑换' },
  4: { en: 'Order completed', 'zh-CN': '订单完成' },
  5: { en: 'Adjustment', 'zh-CN': '后台调整' },
  6: { en: 'Expired', 'zh-CN': '积分过期' },
  7: { en: 'Activity reward', 'zh-CN': '活动奖励' },
};

/** Remarks of rows without their own one, where the label of the type would be misleading. */
const reversed: Readonly<Record<number, Localized>> = {
  [pointsType.orderUse]: { en: 'Points of an order returned', 'zh-CN': '订单抵扣积分退回' },
  [pointsType.exchange]: { en: 'Points of an exchange returned', 'zh-CN': '兑换积分退回' },
  [pointsType.orderCompleted]: { en: 'Order refunded', 'zh-CN': '订单退款扣回' },
};

/** Clients show the remark as the title of a row, so it is never empty. */
function remarkOf({ type, points, remark }: PointsLog, locale: Locale): string {
  if (remark !== '') return remark;
  const usual = type === pointsType.orderCompleted ? points > 0 : points < 0;
  const other = usual ? undefined : reversed[type];
  return other ? other[locale] : labelOf(typeLabels, type, locale);
}

export type LogContext = { readonly zone: string; readonly locale: Locale };

export const logView = (log: PointsLog, { zone, locale }: LogContext) => ({
  ...log,
  type_label: labelOf(typeLabels, log.type, locale),
  remark: remarkOf(log, locale),
  created_at: isoInZone(log.created_at, zone),
});
