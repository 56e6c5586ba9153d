import { shopperDeleted } from '@tradepost/identity';
import type { PaymentSubject, SubjectPayments } from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import { type EventReader, type Runtime, timeZone } from '@tradepost/runtime';
import { sweepBatch } from '../limits.ts';
import { deleteAssets, endMemberships } from './asset-store.ts';
import { purchaseSubject } from './open-membership.ts';
import { cancelPurchasesOf, expirePurchases } from './purchase-store.ts';
import { lockSettlement } from './settle-purchases.ts';

export const sweepTask = 'vip.sweep';

type Deps = { runtime: Pick<Runtime, 'sql' | 'now'>; payments: SubjectPayments };

/**
 * Stores the end of memberships and of purchases that were not paid in time. Prices, coupons and payments compare times, so they
 * do not depend on it. Returns the numbers of rows.
 */
export async function sweepVip({ runtime: { sql, now }, payments }: Deps, signal?: AbortSignal) {
  const ended = { memberships: 0, purchases: 0 };
  for (let rows = sweepBatch; rows === sweepBatch && !signal?.aborted; ) {
    rows = await endMemberships(sql, now(), sweepBatch);
    ended.memberships += rows;
  }
  for (let rows = sweepBatch; rows === sweepBatch && !signal?.aborted; ) {
    rows = await sql.begin((tx) => expire(tx, payments, now()));
    ended.purchases += rows;
  }
  return ended;
}

async function expire(tx: Transaction, payments: SubjectPayments, now: Date): Promise<number> {
  const ids = await expirePurchases(tx, now, sweepBatch);
  if (ids.length > 0) await payments.close(tx, purchaseSubject.name, ids, now);
  return ids.length;
}

/** The purchases of memberships as subjects of payments. */
export const purchasePayments = ({ settings }: Pick<Runtime, 'settings'>): PaymentSubject => ({
  ...purchaseSubject,
  lock: (tx, ids, now) => lockSettlement(tx, ids, { now, zone: settings.get(timeZone) }),
});

/**
 * Deletes membership, growth and claims of shoppers who deleted their accounts. Purchases stay as records of money; money for an
 * unpaid one is returned.
 */
export const deletionReader = ({ now }: Pick<Runtime, 'now'>, payments: SubjectPayments): EventReader => ({
  name: 'vip.deletion',
  kinds: [shopperDeleted.name],
  async read(tx, events) {
    const userIds = events.map(({ data }) => shopperDeleted.data.parse(data).user_id);
    await deleteAssets(tx, userIds);
    const cancelled = await cancelPurchasesOf(tx, userIds);
    if (cancelled.length > 0) await payments.close(tx, purchaseSubject.name, cancelled, now());
  },
});
