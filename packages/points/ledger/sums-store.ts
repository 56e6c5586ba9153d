import { foldChanges, type Queryable, type Sql } from '@tradepost/postgres';

export type PointsSums = { issued: number; consumed: number; today_issued: number; today_consumed: number };

/** The sums of the ledger, of all time and since `today`, the start of a quarter hour. */
export async function selectSums(sql: Queryable, today: Date): Promise<PointsSums> {
  const [row] = await sql<PointsSums[]>`
    select coalesce(sum(issued), 0)::bigint as issued, coalesce(sum(consumed), 0)::bigint as consumed,
      coalesce(sum(issued) filter (where bucket >= ${today}), 0)::bigint as today_issued,
      coalesce(sum(consumed) filter (where bucket >= ${today}), 0)::bigint as today_consumed
    from (select bucket, issued, consumed from points.sums
          union all select bucket, issued, consumed from points.sum_changes) as s`;
  return row!;
}

/** Adds the recorded changes to the sums. Returns the number of changes. Only one process does this at a time. */
export const foldSums = (sql: Sql): Promise<number> =>
  foldChanges(sql, {
    lock: 'points.fold',
    changes: 'points.sum_changes',
    atMost: 100_000,
    add: (tx) => tx`
      insert into points.sums as s (bucket, issued, consumed)
      select bucket, sum(issued), sum(consumed) from changes group by bucket
      on conflict (bucket) do update
      set issued = s.issued + excluded.issued, consumed = s.consumed + excluded.consumed`,
  });
