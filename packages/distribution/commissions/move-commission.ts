import type { Transaction } from '@tradepost/postgres';
import { distributionErrors } from '../errors.ts';
import { openLedger } from '../ledger/ledger.ts';
import { lockBalances, writeLedger } from '../ledger/ledger-store.ts';
import { openCommissionDesk } from './commission-desk.ts';
import { lockCommission, updateCommissions } from './commission-store.ts';

/**
 * Settles a pending commission by hand, also before its order is completed, or takes one back. The completion of the order then
 * does nothing more.
 */
export async function moveCommission(tx: Transaction, id: number, move: 'settle' | 'return', now: Date): Promise<null> {
  const commission = await lockCommission(tx, id);
  if (!commission) throw distributionErrors.commission_not_found();
  const balances = await lockBalances(tx, [commission.distributor_id]);
  const ledger = openLedger(balances);
  const desk = openCommissionDesk(ledger, now);
  if (move === 'return') {
    if (commission.status === 'cancelled') throw distributionErrors.cannot_return();
    desk.cancel(commission);
  } else {
    if (commission.status === 'candidate') throw distributionErrors.order_not_paid();
    if (commission.status !== 'pending') throw distributionErrors.cannot_settle();
    if (balances[0]?.status !== 'active') throw distributionErrors.distributor_inactive();
    desk.settle(commission, commission.order_amount);
  }
  await Promise.all([updateCommissions(tx, desk.changed(), now), writeLedger(tx, ledger, now)]);
  return null;
}
