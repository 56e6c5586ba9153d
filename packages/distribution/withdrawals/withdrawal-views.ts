import { isoInZone, labelOf, toWire } from '@tradepost/core';
import { masked } from '../distributors/distributor.ts';
import type { Reader } from '../labels.ts';
import { withdrawalLabels } from '../labels.ts';
import type { HistoryRow, Withdrawal } from './withdrawal.ts';

const moment = (at: Date | null, zone: string) => (at === null ? null : isoInZone(at, zone));

/** A withdrawal. Of the bank account only the end is shown. */
export const withdrawalView = (row: Withdrawal, { zone, locale }: Reader) => ({
  id: row.id,
  distributor_id: row.distributor_id,
  amount: toWire(row.amount),
  fee: toWire(row.fee),
  actual_amount: toWire(row.actual_amount),
  status: row.status,
  status_label: labelOf(withdrawalLabels, row.status, locale),
  reject_reason: row.reject_reason,
  bank_name: row.bank_name,
  bank_account: masked(row.bank_account_sealed !== null, row.bank_account_end),
  account_name: row.account_name,
  processed_at: moment(row.processed_at, zone),
  completed_at: moment(row.completed_at, zone),
  created_at: isoInZone(row.created_at, zone),
});

export const historyView = (row: HistoryRow, { zone, locale }: Reader) => ({
  from_status: row.from_status,
  to_status: row.to_status,
  to_status_label: labelOf(withdrawalLabels, row.to_status, locale),
  operator: row.actor_type,
  operator_id: row.actor_id,
  reason: row.reason,
  created_at: isoInZone(row.created_at, zone),
});
