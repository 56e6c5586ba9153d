import { randomUUID } from 'node:crypto';
import { lockShoppers } from '@tradepost/identity';
import type { Transaction } from '@tradepost/postgres';
import { recordEvents } from '@tradepost/runtime';
import { pointsErrors } from '../errors.ts';
import { selectBalances } from '../ledger/ledger-store.ts';
import { pointsType } from '../ledger/points-log.ts';
import { writePoints } from '../ledger/write-points.ts';
import { pointsAdjusted } from '../points-events.ts';

export type Adjustment = { readonly user_id: number; readonly points: number; readonly remark: string };

/**
 * Changes the points of shoppers for the merchant, on the caller's transaction. Throws the refusal of the first one that cannot be
 * changed: an unknown shopper, or a balance that would be negative.
 */
export async function adjustPoints(tx: Transaction, changes: readonly Adjustment[], now: Date): Promise<void> {
  const userIds = changes.map(({ user_id }) => user_id);
  const known = await lockShoppers(tx, userIds);
  if (userIds.some((id) => !known.has(id))) throw pointsErrors.shopper_not_found();
  // Each call is a cause of its own; a repeat with its Idempotency-Key does not come here.
  const entries = changes.map((change) => ({
    ...{ ...change, type: pointsType.adjustment, related_id: 0, key: `adjustment:${randomUUID()}` },
  }));
  const outcomes = await writePoints(tx, entries, now);
  const refused = outcomes.find((outcome) => outcome !== true);
  if (refused) throw refused;
  const balances = await selectBalances(tx, userIds);
  const facts = changes.map((change) => ({ ...change, balance: balances.get(change.user_id)! }));
  await recordEvents(tx, pointsAdjusted, facts, now);
}
