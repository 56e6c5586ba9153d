import type { Transaction } from '@tradepost/postgres';
import { recordEvents } from '@tradepost/runtime';
import {
  type WithdrawalFacts,
  withdrawalApproved,
  withdrawalCompleted,
  withdrawalRejected,
} from '../distribution-events.ts';
import { distributionErrors } from '../errors.ts';
import { openLedger } from '../ledger/ledger.ts';
import { lockBalances, writeLedger } from '../ledger/ledger-store.ts';
import { type WithdrawalMove, withdrawalMoves } from './withdrawal.ts';
import { eraseEndedAccounts, insertHistory, selectWithdrawal, updateWithdrawal } from './withdrawal-store.ts';

const refusals: Record<WithdrawalMove, () => Error> = {
  approve: distributionErrors.cannot_approve,
  reject: distributionErrors.cannot_reject,
  complete: distributionErrors.cannot_complete,
};

/** Records the event of a move. */
function recordMove(tx: Transaction, move: WithdrawalMove, facts: WithdrawalFacts, reason: string, now: Date) {
  if (move === 'reject') return recordEvents(tx, withdrawalRejected, [{ ...facts, reason }], now);
  return recordEvents(tx, move === 'approve' ? withdrawalApproved : withdrawalCompleted, [facts], now);
}

/**
 * Staff approve, reject or complete a withdrawal. Of concurrent moves one wins: complete moves frozen -> withdrawn, reject moves
 * frozen -> available, and both do it once. `reason` is for a rejection.
 */
export async function moveWithdrawal(
  tx: Transaction,
  { id, move, staff_id, reason = '' }: { id: number; move: WithdrawalMove; staff_id: number; reason?: string },
  now: Date,
): Promise<null> {
  const { from, to } = withdrawalMoves[move];
  const moved = await updateWithdrawal(tx, id, { from, to, reason, now });
  if (!moved) throw (await selectWithdrawal(tx, id)) ? refusals[move]() : distributionErrors.withdrawal_not_found();
  const { distributor_id, amount, actual_amount, before } = moved;
  const [balance] = await lockBalances(tx, [distributor_id]);
  const { user_id, deleted_at } = balance!;
  const ledger = openLedger([balance!]);
  const cause = { move: `withdrawal:${id}:${to}`, withdrawal_id: id };
  if (move === 'complete') ledger.payOut(distributor_id, amount, cause);
  if (move === 'reject') ledger.release(distributor_id, amount, cause);
  const history = { withdrawal_id: id, from_status: before, to_status: to, reason, created_at: now };
  await Promise.all([
    insertHistory(tx, { ...history, actor_type: 'admin', actor_id: staff_id }),
    writeLedger(tx, ledger, now),
    recordMove(tx, move, { withdrawal_id: id, distributor_id, user_id, amount, actual_amount }, reason, now),
  ]);
  if (deleted_at !== null && move !== 'approve') await eraseEndedAccounts(tx, [user_id]);
  return null;
}
