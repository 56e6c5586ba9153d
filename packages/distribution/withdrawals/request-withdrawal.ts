import { type Minor, toWire } from '@tradepost/core';
import { type Runtime, recordEvents, type Write } from '@tradepost/runtime';
import { distributionConfig, feeOf, smallestWithdrawal } from '../config/distribution-config.ts';
import { withdrawalRequested } from '../distribution-events.ts';
import { shownEnd } from '../distributors/distributor.ts';
import { distributionErrors } from '../errors.ts';
import { openLedger } from '../ledger/ledger.ts';
import { lockBalanceOf, writeLedger } from '../ledger/ledger-store.ts';
import { maxOpenWithdrawals } from '../limits.ts';
import { bankAccountName } from '../tables.ts';
import { countOpen, insertHistory, insertWithdrawal, nextWithdrawalId } from './withdrawal-store.ts';

export type WithdrawalRequest = {
  readonly user_id: number;
  readonly amount: Minor;
  readonly bank_name: string;
  readonly bank_account: string;
  readonly account_name: string;
};

/** An active distributor asks for a withdrawal: available -> frozen. The bank account is stored encrypted. Returns its id. */
export async function requestWithdrawal(
  { sql, secrets, settings, now }: Pick<Runtime, 'sql' | 'secrets' | 'settings' | 'now'>,
  write: Write,
  { user_id, amount, bank_name, bank_account, account_name }: WithdrawalRequest,
): Promise<number> {
  const config = settings.get(distributionConfig);
  const next = await nextWithdrawalId(sql);
  const bank_account_sealed = await secrets.seal(bankAccountName(next), bank_account);
  const { id } = await write(async (tx) => {
    const locked = await lockBalanceOf(tx, user_id);
    if (!locked) throw distributionErrors.not_distributor();
    if (locked.status !== 'active') throw distributionErrors.distributor_inactive();
    const min = smallestWithdrawal(config);
    if (amount < min) throw distributionErrors.below_minimum({ min: toWire(min).toFixed(2) });
    if (amount > locked.available_amount) throw distributionErrors.insufficient_balance();
    if ((await countOpen(tx, locked.id)) >= maxOpenWithdrawals)
      throw distributionErrors.too_many_open({ max: maxOpenWithdrawals });
    const at = now();
    const fee = feeOf(amount, config);
    const ledger = openLedger([locked]);
    ledger.freeze(locked.id, amount, { move: `withdrawal:${next}:requested`, withdrawal_id: next });
    const account = { bank_name, bank_account_sealed, bank_account_end: shownEnd(bank_account), account_name };
    const facts = { withdrawal_id: next, distributor_id: locked.id, user_id, amount, actual_amount: amount - fee };
    const history = { withdrawal_id: next, from_status: '', to_status: 'pending', created_at: at } as const;
    await Promise.all([
      insertWithdrawal(tx, { id: next, distributor_id: locked.id, amount, fee, ...account }, at),
      insertHistory(tx, { ...history, actor_type: 'user', actor_id: user_id, reason: '' }),
      writeLedger(tx, ledger, at),
      recordEvents(tx, withdrawalRequested, [facts], at),
    ]);
    return { id: next };
  });
  return id;
}
