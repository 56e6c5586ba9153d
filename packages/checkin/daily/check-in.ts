import { pointsType, writePoints } from '@tradepost/points';
import { writeTransaction } from '@tradepost/postgres';
import { type RecordOutcomes, type Runtime, recordEvents, timeZone } from '@tradepost/runtime';
import { shopperCheckedIn } from '../checkin-events.ts';
import { checkinErrors } from '../errors.ts';
import { type CheckIn, insertCheckIns } from './check-in-store.ts';
import { dayIn } from './shop-day.ts';

type Deps = Pick<Runtime, 'sql' | 'settings' | 'now'>;

/**
 * Checks shoppers in for today, in the zone of the shop, and writes their points to the ledger. Returns for each shopper the
 * check-in, or the refusal of one who has checked in on this day or a later one: the day can go back when the zone changes.
 */
export async function checkIn(
  { sql, settings, now: clock }: Deps,
  userIds: readonly number[],
  record?: RecordOutcomes<CheckIn>,
): Promise<(CheckIn | Error)[]> {
  const now = clock();
  const date = dayIn(now, settings.get(timeZone));
  return writeTransaction(sql, async (tx) => {
    const written = await insertCheckIns(tx, userIds, date, now);
    const earned = written.filter(({ points }) => points > 0);
    const outcomes = await writePoints(
      tx,
      earned.map(({ id, user_id, points }) => ({
        ...{ user_id, points, related_id: id },
        type: pointsType.checkIn,
        // Made when it is read: `checkInRemarks`.
        remark: '',
        key: `checkin:${user_id}:${date}`,
      })),
      now,
    );
    if (outcomes.some((outcome) => outcome !== true)) throw checkinErrors.account_full();
    // A shopper who is there twice has one check-in: the first.
    const byUser = new Map(written.map((row) => [row.user_id, row]));
    const result = userIds.map((userId) => {
      const row = byUser.get(userId);
      byUser.delete(userId);
      return row ?? checkinErrors.already_checked_in();
    });
    const facts = written.map(({ id: checkin_id, ...rest }) => ({ checkin_id, ...rest }));
    const events = facts.length > 0 ? [recordEvents(tx, shopperCheckedIn, facts, now)] : [];
    return { value: result, last: [...events, ...(record?.(tx, result) ?? [])] };
  });
}
