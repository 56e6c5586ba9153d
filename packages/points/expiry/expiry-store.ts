import type { Queryable, Transaction } from '@tradepost/postgres';

/** Points that a shopper has earned since a time. A returned use was earned before it was used, so it does not count. */
const earnedSince = (sql: Queryable, since: Date) => sql`
  coalesce((
    select sum(l.points) from points.logs l
    where l.user_id = a.user_id and l.points > 0 and l.type in (1, 4, 5, 7) and l.created_at >= ${since}), 0)::bigint`;

export type Candidates = {
  /** Accounts whose balance is more than what they earned since the time. */
  readonly userIds: number[];
  /** The last account that was checked; null when there are no more. */
  readonly last: number | null;
};

/** Checks the next accounts with points, by id. Takes no lock. */
export async function selectCandidates(
  sql: Queryable,
  { after, since, limit }: { after: number; since: Date; limit: number },
): Promise<Candidates> {
  const rows = await sql<{ user_id: number; is_due: boolean }[]>`
    select a.user_id, a.balance > ${earnedSince(sql, since)} as is_due
    from (select user_id, balance from points.accounts where balance > 0 and user_id > ${after} order by user_id limit ${limit}) as a
    order by a.user_id`;
  return {
    userIds: rows.filter((row) => row.is_due).map((row) => row.user_id),
    last: rows.at(-1)?.user_id ?? null,
  };
}

/** What each of these shoppers has earned since a time. The accounts are locked. */
export async function selectEarnedSince(
  tx: Transaction,
  userIds: readonly number[],
  since: Date,
): Promise<Map<number, number>> {
  const rows = await tx<{ user_id: number; earned: number }[]>`
    select a.user_id, ${earnedSince(tx, since)} as earned
    from unnest(${[...userIds]}::bigint[]) as a (user_id)`;
  return new Map(rows.map(({ user_id, earned }) => [user_id, earned]));
}
