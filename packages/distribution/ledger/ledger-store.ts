import type { Statement, Transaction } from '@tradepost/postgres';
import type { Balance, Ledger } from './ledger.ts';

const columns = (tx: Transaction): Statement => tx`
  id, user_id, status, deleted_at, total_earnings, available_amount, frozen_amount, withdrawn_amount, debt_amount, total_orders`;

/** Locks distributors in the order of their ids. A transaction that moves their money locks them first. */
export async function lockBalances(tx: Transaction, distributorIds: readonly number[]): Promise<Balance[]> {
  return tx<Balance[]>`
    select ${columns(tx)} from distribution.distributors
    where id = any(${[...new Set(distributorIds)]}::bigint[]) order by id for no key update`;
}

/** Locks the distributor that a shopper is. */
export async function lockBalanceOf(tx: Transaction, userId: number): Promise<Balance | undefined> {
  const [row] = await tx<Balance[]>`
    select ${columns(tx)} from distribution.distributors where user_id = ${userId} for no key update`;
  return row;
}

/** Writes the rows of the moves and the sums of the locked distributors. */
export async function writeLedger(tx: Transaction, ledger: Ledger, now: Date): Promise<void> {
  const changed = ledger.changed();
  if (changed.length === 0) return;
  await Promise.all([
    tx`
      update distribution.distributors d
      set total_earnings = n.total_earnings, available_amount = n.available_amount, frozen_amount = n.frozen_amount,
          withdrawn_amount = n.withdrawn_amount, debt_amount = n.debt_amount, total_orders = n.total_orders,
          updated_at = ${now}
      from json_to_recordset(${JSON.stringify(changed)}::text::json) as n (id bigint, total_earnings bigint,
        available_amount bigint, frozen_amount bigint, withdrawn_amount bigint, debt_amount bigint, total_orders integer)
      where d.id = n.id`,
    tx`
      insert into distribution.ledger (move, distributor_id, account, amount, commission_id, withdrawal_id, created_at)
      select move, distributor_id, account, amount, commission_id, withdrawal_id, ${now}
      from json_to_recordset(${JSON.stringify(ledger.rows)}::text::json) as r (move text, distributor_id bigint, account text,
        amount bigint, commission_id bigint, withdrawal_id bigint)`,
  ]);
}
