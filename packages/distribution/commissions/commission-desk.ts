import type { Minor } from '@tradepost/core';
import type { Ledger } from '../ledger/ledger.ts';
import { type Commission, commissionOn } from './commission.ts';

/** Moves of locked commissions, decided in memory. Money moves in the ledger. */
export type CommissionDesk = {
  /** The order is paid, with this amount: candidate -> pending. A repricing before the payment changes the commission. */
  pay(commission: Commission, total: Minor): void;
  /** candidate or pending -> settled. A distributor who is not active earns nothing: then it is cancelled. */
  settle(commission: Commission, total: Minor): void;
  /** A part of the order was refunded, by this case. The commission is then that of the rest. */
  refund(commission: Commission, of: { case_id: number; amount: Minor }): void;
  /** Any status -> cancelled. What was settled is taken back. */
  cancel(commission: Commission): void;
  changed(): readonly Commission[];
};

export function openCommissionDesk(ledger: Ledger, now: Date): CommissionDesk {
  const changed = new Set<Commission>();
  const change = (commission: Commission, values: Partial<Commission>) => {
    Object.assign(commission, values);
    changed.add(commission);
  };
  const causeOf = ({ id }: Commission, what: string) => ({ move: `commission:${id}:${what}`, commission_id: id });
  const cancel = (commission: Commission) => {
    const { status, distributor_id, commission: amount } = commission;
    if (status === 'cancelled') return;
    if (status === 'settled') ledger.cancel(distributor_id, amount, causeOf(commission, 'cancelled'));
    change(commission, { status: 'cancelled', cancelled_at: now });
  };
  const pay = (commission: Commission, total: Minor) => {
    if (commission.status !== 'candidate') return;
    const amount = commissionOn(total - commission.refunded_amount, commission.rate);
    change(commission, { status: 'pending', order_amount: total, commission: amount });
  };
  return {
    pay,
    cancel,
    settle(commission, total) {
      pay(commission, total);
      if (commission.status !== 'pending') return;
      if (ledger.balance(commission.distributor_id)?.status !== 'active') return cancel(commission);
      ledger.earn(commission.distributor_id, commission.commission, causeOf(commission, 'settled'));
      change(commission, { status: 'settled', settled_at: now });
    },
    refund(commission, { case_id, amount }) {
      const refunded_amount = commission.refunded_amount + amount;
      const left = commission.order_amount - refunded_amount;
      change(commission, { refunded_amount });
      if (commission.status === 'cancelled') return;
      const next = Math.min(commissionOn(left, commission.rate), commission.commission);
      const lost = commission.commission - next;
      if (commission.status === 'settled' && lost > 0)
        ledger.takeBack(commission.distributor_id, lost, causeOf(commission, `case:${case_id}`));
      change(commission, { commission: next });
      if (left <= 0) cancel(commission);
    },
    changed: () => [...changed],
  };
}
