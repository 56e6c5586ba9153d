import { orderStatus, type PaidOrders, selectOrderStatuses } from '@tradepost/orders';
import type { Statement, Transaction } from '@tradepost/postgres';
import { enqueueJobs, type Log, type Runtime, sweepJob } from '@tradepost/runtime';
import { groupFailed } from '../group-events.ts';
import { expiryBatch } from '../limits.ts';
import { clearDueMembers, type DueMember, failGroups, lockExpiredGroups, selectDueMembers } from './expire-store.ts';
import { recordForMembers } from './record-members.ts';

export const expireTask = 'group_buy.expire';

type Deps = { readonly runtime: Pick<Runtime, 'sql' | 'now'>; readonly paidOrders: PaidOrders };
type Run = { readonly log: Log; readonly signal: AbortSignal };

/** The statement that enqueues the sweep of groups that expire at this time. */
export const enqueueSweep = (tx: Transaction, expiresAt: Date): Statement =>
  enqueueJobs(tx, [sweepJob(expireTask, expiresAt)]);

/** Fails all open groups that have expired, and returns their number. It may run late or twice: the update is guarded. */
async function failExpired({ runtime }: Deps, { signal }: Run): Promise<number> {
  let failed = 0;
  while (!signal.aborted) {
    const groups = await runtime.sql.begin(async (tx) => {
      const now = runtime.now();
      const ids = await lockExpiredGroups(tx, now, expiryBatch);
      if (ids.length === 0) return [];
      const ended = await failGroups(tx, ids, now);
      await recordForMembers(tx, groupFailed, ended, now);
      return ended;
    });
    if (groups.length === 0) break;
    failed += groups.length;
  }
  return failed;
}

/** The states of an order of a failed group that is not settled: it may be paid, or come out of its after-sale. */
const unsettled: readonly number[] = [orderStatus.pendingPayment, orderStatus.paid, orderStatus.afterSale];

/** Cancels those orders of these members that are paid. The others are settled by a later run, when they are paid or cancelled. */
async function settle({ runtime, paidOrders }: Deps, members: readonly DueMember[]): Promise<number> {
  const orderIds = members.map(({ order_id }) => order_id);
  return runtime.sql.begin(async (tx) => {
    const cancelled = await paidOrders.cancelForFailedGroup(tx, orderIds, runtime.now());
    const statuses = await selectOrderStatuses(tx, orderIds);
    const settled = members.filter(({ order_id }) => !unsettled.includes(statuses.get(order_id) ?? 0));
    if (settled.length > 0)
      await clearDueMembers(
        tx,
        settled.map(({ id }) => id),
      );
    return cancelled.length;
  });
}

/** Cancels the paid orders of failed groups, and returns their number. An order that fails is logged, and the others go on. */
async function settleFailed(deps: Deps, { log, signal }: Run): Promise<number> {
  let cancelled = 0;
  let after = 0;
  while (!signal.aborted) {
    const members = await selectDueMembers(deps.runtime.sql, after, expiryBatch);
    if (members.length === 0) break;
    after = members.at(-1)!.id;
    try {
      cancelled += await settle(deps, members);
    } catch (error) {
      log.warn({ err: error }, 'orders of failed groups were not cancelled; each order is tried alone');
      for (const member of members)
        cancelled += await settle(deps, [member]).catch((reason: unknown) => {
          log.error({ err: reason, order_id: member.order_id }, 'an order of a failed group was not cancelled');
          return 0;
        });
    }
  }
  return cancelled;
}

/**
 * Fails the groups that have expired, then cancels and refunds the paid orders of all failed groups. These are two steps, because
 * orders are locked before groups everywhere.
 */
export async function expireGroups(deps: Deps, run: Run): Promise<{ failed: number; cancelled: number }> {
  const failed = await failExpired(deps, run);
  return { failed, cancelled: await settleFailed(deps, run) };
}
