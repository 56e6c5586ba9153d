import type { Minor } from '@tradepost/core';

export const withdrawalStatuses = ['pending', 'approved', 'rejected', 'completed'] as const;
export type WithdrawalStatus = (typeof withdrawalStatuses)[number];

/** Amounts are in minor units. */
export type Withdrawal = {
  readonly id: number;
  readonly distributor_id: number;
  readonly amount: Minor;
  readonly fee: Minor;
  readonly actual_amount: Minor;
  readonly status: WithdrawalStatus;
  readonly reject_reason: string;
  readonly bank_name: string;
  readonly bank_account_sealed: string | null;
  readonly bank_account_end: string;
  readonly account_name: string;
  readonly processed_at: Date | null;
  readonly completed_at: Date | null;
  readonly created_at: Date;
};

/** What staff do with a withdrawal. A transfer can fail at the bank, so an approved one can be rejected too. */
export const withdrawalMoves = {
  approve: { from: ['pending'], to: 'approved' },
  reject: { from: ['pending', 'approved'], to: 'rejected' },
  complete: { from: ['approved'], to: 'completed' },
} as const satisfies Record<string, { from: readonly WithdrawalStatus[]; to: WithdrawalStatus }>;
export type WithdrawalMove = keyof typeof withdrawalMoves;

/** Who moved a withdrawal. */
export type HistoryRow = {
  readonly withdrawal_id: number;
  readonly from_status: WithdrawalStatus | '';
  readonly to_status: WithdrawalStatus;
  readonly actor_type: 'user' | 'admin';
  readonly actor_id: number;
  readonly reason: string;
  readonly created_at: Date;
};
