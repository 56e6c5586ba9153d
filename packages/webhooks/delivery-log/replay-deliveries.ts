import type { Transaction } from '@tradepost/postgres';
import { lockToAdd, readySubjects } from '../deliveries/order-store.ts';
import { maxReplayed } from '../limits.ts';
import { type ReplayFilter, restartDeliveries, selectEnded } from './replay-store.ts';

/**
 * Sends ended deliveries again, with the same id and body and all attempts, the oldest first. `more`: further ones may match, a call
 * with `after: last_event_id` replays them.
 */
export async function replayDeliveries(
  tx: Transaction,
  endpointId: number,
  filter: ReplayFilter,
  now: Date,
): Promise<{ replayed: number; more: boolean; last_event_id: number }> {
  // Before the lock, because it may read many rows, and no delivery ends under the lock.
  const ended = await selectEnded(tx, endpointId, filter, maxReplayed);
  if (ended.length === 0) return { replayed: 0, more: false, last_event_id: 0 };
  const ids = ended.map(({ id }) => id);
  await lockToAdd(tx);
  const subjects = await restartDeliveries(tx, ids, now);
  if (subjects.length > 0) await readySubjects(tx, endpointId, [...new Set(subjects)]);
  return { replayed: subjects.length, more: ids.length === maxReplayed, last_event_id: ended.at(-1)!.event_id };
}
