import type { Transaction } from '@tradepost/postgres';
import { lockToAdd, readySubjects } from '../deliveries/order-store.ts';
import { maxReplayed } from '../limits.ts';
import { type ReplayFilter, restartDeliveries, selectEnded } from './replay-store.ts';

/**
 * Sends ended deliveries again, with the same id and body and all attempts, the oldest first. `more`: further ones match, a second
 * call replays them.
 */
export async function replayDeliveries(
  tx: Transaction,
  endpointId: number,
  filter: ReplayFilter,
  now: Date,
): Promise<{ replayed: number; more: boolean }> {
  // Before the lock, because it may read many rows, and no delivery ends under the lock.
  const ids = await selectEnded(tx, endpointId, filter, maxReplayed);
  if (ids.length === 0) return { replayed: 0, more: false };
  await lockToAdd(tx);
  const subjects = await restartDeliveries(tx, ids, now);
  if (subjects.length > 0) await readySubjects(tx, endpointId, [...new Set(subjects)]);
  return { replayed: subjects.length, more: ids.length === maxReplayed };
}
