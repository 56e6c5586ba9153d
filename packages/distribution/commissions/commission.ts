import type { Minor } from '@tradepost/core';

/** `candidate`: the order is not paid. */
type CommissionStatus = 'candidate' | 'pending' | 'settled' | 'cancelled';

/** Amounts are in minor units, the rate in basis points. */
export type Commission = {
  readonly id: number;
  readonly order_id: number;
  readonly distributor_id: number;
  readonly level: number;
  order_amount: Minor;
  refunded_amount: Minor;
  readonly rate: number;
  commission: Minor;
  status: CommissionStatus;
  settled_at: Date | null;
  cancelled_at: Date | null;
  readonly created_at: Date;
};

/** The commission on an amount at a rate in basis points, rounded down to the cent. */
export const commissionOn = (amount: Minor, rate: number): Minor => Math.floor((Math.max(amount, 0) * rate) / 10_000);
