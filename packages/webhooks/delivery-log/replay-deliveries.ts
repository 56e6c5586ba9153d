import type { Transaction } from '@tradepost/postgres';
import { lockToAdd, readySubjects } from '../deliveries/order-store.ts';
import { maxReplayed } from '../limits.ts';
import { type ReplayFilter, restartDeliveries } from './replay-store.ts';

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
  await lockToAdd(tx);
  const subjects = await restartDeliveries(tx, endpointId, { filter, limit: maxReplayed, now });
  if (subjects.length > 0) await readySubjects(tx, endpointId, [...new Set(subjects)]);
  return { replayed: subjects.length, more: subjects.length === maxReplayed };
}
