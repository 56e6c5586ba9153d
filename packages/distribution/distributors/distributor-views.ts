import { isoInZone, labelOf, toWire } from '@tradepost/core';
import type { Reader } from '../labels.ts';
import { distributorLabels } from '../labels.ts';
import { type Distributor, masked } from './distributor.ts';

/** The sums of a distributor as amounts of the wire. `debt_amount` is what the next earnings pay first. */
const sums = (row: Distributor) => ({
  total_earnings: toWire(row.total_earnings),
  available_amount: toWire(row.available_amount),
  frozen_amount: toWire(row.frozen_amount),
  withdrawn_amount: toWire(row.withdrawn_amount),
  debt_amount: toWire(row.debt_amount),
  total_customers: row.total_customers,
  total_orders: row.total_orders,
});

/** A distributor with the statuses of the contract's first dialect. The identity card number is masked. */
export const distributorView = (row: Distributor, { zone, locale }: Reader) => ({
  id: row.id,
  user_id: row.user_id,
  parent_id: row.parent_id ?? 0,
  level: row.level,
  status: row.status,
  status_label: labelOf(distributorLabels, row.status, locale),
  ...sums(row),
  nickname: row.nickname,
  real_name: row.real_name,
  id_card: masked(row.id_card_sealed !== null, row.id_card_end),
  phone: row.phone,
  created_at: isoInZone(row.created_at, zone),
});

/** A name of which only the first character is shown. */
const shortName = (name: string) => (name === '' ? '' : `${[...name][0]}**`);

/** A distributor as the parent sees it: without personal data. */
export const memberView = (row: Distributor, reader: Reader) => ({
  ...distributorView(row, reader),
  real_name: shortName(row.real_name),
  id_card: '',
  phone: masked(row.phone !== '', row.phone.length >= 8 ? row.phone.slice(-4) : ''),
});

/** A distributor with the numeric status of the second dialect: 1 enabled, 0 disabled or not approved yet. */
export const numericDistributorView = (row: Distributor, { zone, locale }: Reader) => ({
  id: row.id,
  user_id: row.user_id,
  parent_id: row.parent_id ?? 0,
  level: Math.min(row.level, 2),
  nickname: row.nickname,
  real_name: row.real_name,
  phone: row.phone,
  balance: toWire(row.available_amount),
  total_earn: toWire(row.total_earnings),
  total_customers: row.total_customers,
  total_orders: row.total_orders,
  status: row.status === 'active' ? 1 : 0,
  status_label: labelOf(distributorLabels, row.status, locale),
  created_at: isoInZone(row.created_at, zone),
  updated_at: isoInZone(row.updated_at, zone),
});
