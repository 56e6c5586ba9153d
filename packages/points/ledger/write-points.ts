import type { Transaction } from '@tradepost/postgres';
import { pointsErrors } from '../errors.ts';
import { maxBalance } from '../limits.ts';
import { insertEntries, lockAccounts, openAccounts, selectKnownKeys } from './ledger-store.ts';
import type { PointsEntry } from './points-log.ts';

/** Decides the entries one after the other. `rows` are the rows to write. */
function decideEntries(
  entries: readonly PointsEntry[],
  balances: Map<number, number>,
  known: Set<string>,
): { outcomes: (true | Error)[]; rows: PointsEntry[] } {
  const rows: PointsEntry[] = [];
  const outcomes = entries.map((entry): true | Error => {
    const { user_id, points, key } = entry;
    if (!Number.isSafeInteger(points) || points === 0) throw new RangeError(`${key}: ${points} points`);
    if (known.has(key)) return true;
    const balance = (balances.get(user_id) ?? 0) + points;
    if (balance < 0) return pointsErrors.not_enough_points();
    if (balance > maxBalance) return pointsErrors.too_many_points({ max: maxBalance });
    known.add(key);
    balances.set(user_id, balance);
    rows.push(entry);
    return true;
  });
  return { outcomes, rows };
}

/**
 * Writes rows of the ledger and changes the balances, on the caller's transaction. `points` is signed. Locks the accounts in id
 * order, so call it after the locks of orders, stock and coupons. An entry that would make a balance negative is refused
 * (`not_enough_points`) and the others are written. An entry whose key has a row changes nothing and answers true.
 * Returns the outcome of each entry. Four statements for any number of entries.
 */
export async function writePoints(
  tx: Transaction,
  entries: readonly PointsEntry[],
  now: Date,
): Promise<(true | Error)[]> {
  if (entries.length === 0) return [];
  const userIds = entries.map(({ user_id }) => user_id);
  const [, balances, known] = await Promise.all([
    openAccounts(tx, userIds),
    lockAccounts(tx, userIds),
    selectKnownKeys(
      tx,
      entries.map(({ key }) => key),
    ),
  ]);
  const { outcomes, rows } = decideEntries(entries, balances, known);
  if (rows.length > 0) await insertEntries(tx, rows, now);
  return outcomes;
}
