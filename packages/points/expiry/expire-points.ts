import type { Runtime } from '@tradepost/runtime';
import { recordEvents } from '@tradepost/runtime';
import { insertEntries, lockAccounts } from '../ledger/ledger-store.ts';
import { pointsType } from '../ledger/points-log.ts';
import { pointsExpired } from '../points-events.ts';
import { pointsExpireDays } from '../settings.ts';
import { selectCandidates, selectEarnedSince } from './expiry-store.ts';

export const expiryTask = 'points.expire';
const accountsPerBatch = 1_000;
const dayMs = 24 * 60 * 60 * 1000;

/**
 * Expires points that were earned `points.points_expire_days` ago or earlier. The oldest points are spent first, so a balance
 * consists of the newest earned points: what is more than those that were earned since then expires. Works in batches of accounts,
 * each in a transaction of its own. It may run again at any time, and expires nothing twice. Returns the number of accounts.
 */
export async function expirePoints(
  { sql, settings, now }: Pick<Runtime, 'sql' | 'settings' | 'now'>,
  { signal }: { signal: AbortSignal },
): Promise<number> {
  const days = settings.get(pointsExpireDays);
  if (days === 0) return 0;
  const at = now();
  const since = new Date(at.getTime() - days * dayMs);
  let expired = 0;
  let after = 0;
  while (!signal.aborted) {
    const { userIds, last } = await selectCandidates(sql, { after, since, limit: accountsPerBatch });
    if (last === null) break;
    after = last;
    if (userIds.length === 0) continue;
    expired += await sql.begin(async (tx) => {
      const balances = await lockAccounts(tx, userIds);
      const earned = await selectEarnedSince(tx, userIds, since);
      const due = [...balances]
        .map(([user_id, balance]) => ({ user_id, balance, points: balance - (earned.get(user_id) ?? 0) }))
        .filter(({ points }) => points > 0);
      if (due.length === 0) return 0;
      const entries = due.map(({ user_id, points }) => ({
        ...{ user_id, points: -points, type: pointsType.expiry, related_id: 0, remark: '' },
        key: `expiry:${user_id}:${at.toISOString()}`,
      }));
      const facts = due.map(({ user_id, balance, points }) => ({ user_id, points, balance: balance - points }));
      await Promise.all([insertEntries(tx, entries, at), recordEvents(tx, pointsExpired, facts, at)]);
      return due.length;
    });
  }
  return expired;
}
