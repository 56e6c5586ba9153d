import type { Minor } from '@tradepost/core';

export const distributorStatuses = ['pending', 'active', 'disabled'] as const;
export type DistributorStatus = (typeof distributorStatuses)[number];

/** Amounts are in minor units. */
export type Distributor = {
  readonly id: number;
  readonly user_id: number;
  readonly parent_id: number | null;
  readonly level: number;
  readonly status: DistributorStatus;
  readonly real_name: string;
  readonly id_card_sealed: string | null;
  readonly id_card_end: string;
  readonly phone: string;
  readonly total_earnings: Minor;
  readonly available_amount: Minor;
  readonly frozen_amount: Minor;
  readonly withdrawn_amount: Minor;
  readonly debt_amount: Minor;
  readonly total_orders: number;
  readonly total_customers: number;
  readonly nickname: string;
  readonly created_at: Date;
  readonly updated_at: Date;
};

/** The end of a number that may be shown: four characters, and nothing of a short number. */
export const shownEnd = (text: string): string => (text.length >= 8 ? text.slice(-4) : '');
/** A number of which only the end is shown. Empty when there is no number. */
export const masked = (isThere: boolean, end: string): string => (isThere ? `****${end}` : '');
