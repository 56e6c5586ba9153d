import { isoInZone, labelOf, toWire } from '@tradepost/core';
import type { Reader } from '../labels.ts';
import { commissionLabels, numericCommissionLabels } from '../labels.ts';
import type { Commission } from './commission.ts';

/** Clients know no candidates. */
const shownStatus = ({ status }: Commission) => (status === 'candidate' ? 'pending' : status);
/** The numbers of the second dialect. */
const numbersOfStatus = { candidate: 1, pending: 1, settled: 2, cancelled: 3 } as const;

/** A commission with the rate as a percentage. */
export const commissionView = (row: Commission, { zone, locale }: Reader) => ({
  id: row.id,
  order_id: row.order_id,
  distributor_id: row.distributor_id,
  level: row.level,
  order_amount: toWire(row.order_amount),
  commission_rate: row.rate / 100,
  commission: toWire(row.commission),
  status: shownStatus(row),
  status_label: labelOf(commissionLabels, shownStatus(row), locale),
  settled_at: row.settled_at === null ? null : isoInZone(row.settled_at, zone),
  created_at: isoInZone(row.created_at, zone),
});

/** A commission of the second dialect: level 1 direct, 2 indirect; status 1 pending, 2 settled, 3 returned. */
export const numericCommissionView = (row: Commission, { zone, locale }: Reader) => ({
  id: row.id,
  order_id: row.order_id,
  distributor_id: row.distributor_id,
  level: Math.min(row.level, 2),
  amount: toWire(row.commission),
  status: numbersOfStatus[row.status],
  status_label: labelOf(numericCommissionLabels, numbersOfStatus[row.status], locale),
  created_at: isoInZone(row.created_at, zone),
});
