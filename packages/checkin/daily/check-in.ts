import { pointsType, writePoints } from '@tradepost/points';
import { type Transaction, writeTransaction } from '@tradepost/postgres';
import { type RecordOutcomes, type Runtime, recordEvents, timeZone } from '@tradepost/runtime';
import { shopperCheckedIn } from '../checkin-events.ts';
import { checkinErrors } from '../errors.ts';
import { type CheckIn, insertCheckIns } from './check-in-store.ts';
import { dayIn } from './shop-day.ts';

type Deps = Pick<Runtime, 'sql' | 'settings' | 'now'>;

/** Rolls a batch back: the accounts of these shoppers cannot hold more points. */
type AccountsFull = Error & { readonly fullAccounts: readonly number[] };
const rollBack = (fullAccounts: readonly number[]): AccountsFull =>
  Object.assign(new Error('the batch is rolled back'), { fullAccounts });

/** Writes the points of these check-ins. Throws `AccountsFull` when an account cannot hold them. */
async function givePoints(tx: Transaction, written: readonly CheckIn[], now: Date): Promise<void> {
  const earned = written.filter(({ points }) => points > 0);
  const outcomes = await writePoints(
    tx,
    earned.map(({ id, user_id, date, points }) => ({
      ...{ user_id, points, related_id: id },
      type: pointsType.checkIn,
      // Made when it is read: `checkInRemarks`.
      remark: '',
      key: `checkin:${user_id}:${date}`,
    })),
    now,
  );
  const refused = earned.filter((_, n) => outcomes[n] !== true);
  if (refused.length > 0) throw rollBack(refused.map(({ user_id }) => user_id));
}

/** One run of a batch, without the shoppers of `full`. */
function runBatch(
  { sql, settings, now: clock }: Deps,
  userIds: readonly number[],
  full: ReadonlySet<number>,
  record?: RecordOutcomes<CheckIn>,
): Promise<(CheckIn | Error)[]> {
  const now = clock();
  const date = dayIn(now, settings.get(timeZone));
  return writeTransaction(sql, async (tx) => {
    const written = await insertCheckIns(
      tx,
      userIds.filter((id) => !full.has(id)),
      date,
      now,
    );
    await givePoints(tx, written, now);
    // A shopper who is there twice has one check-in: the first.
    const byUser = new Map(written.map((row) => [row.user_id, row]));
    const result = userIds.map((userId) => {
      const row = byUser.get(userId);
      byUser.delete(userId);
      return row ?? (full.has(userId) ? checkinErrors.account_full() : checkinErrors.already_checked_in());
    });
    const facts = written.map(({ id: checkin_id, ...rest }) => ({ checkin_id, ...rest }));
    const events = facts.length > 0 ? [recordEvents(tx, shopperCheckedIn, facts, now)] : [];
    return { value: result, last: [...events, ...(record?.(tx, result) ?? [])] };
  });
}

/**
 * Checks shoppers in for today, in the zone of the shop, and writes their points to the ledger. Returns for each shopper the
 * check-in, or the refusal of one who has checked in on this day or a later one: the day can go back when the zone changes. When
 * an account cannot hold the points, the batch is rolled back and runs again without that shopper.
 */
export async function checkIn(
  deps: Deps,
  userIds: readonly number[],
  record?: RecordOutcomes<CheckIn>,
): Promise<(CheckIn | Error)[]> {
  const full = new Set<number>();
  // Each further run has at least one shopper less.
  for (;;)
    try {
      return await runBatch(deps, userIds, full, record);
    } catch (error) {
      if (!(error instanceof Error) || !('fullAccounts' in error)) throw error;
      for (const userId of (error as AccountsFull).fullAccounts) full.add(userId);
    }
}
