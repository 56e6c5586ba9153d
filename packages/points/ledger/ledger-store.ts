import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import type { PointsEntry } from './points-log.ts';

type Account = { user_id: number; balance: number };

const byUser = (rows: readonly Account[]): Map<number, number> =>
  new Map(rows.map(({ user_id, balance }) => [user_id, balance]));

/** The balances of these shoppers. Without an account it is 0. One statement. */
export async function selectBalances(sql: Queryable, userIds: readonly number[]): Promise<Map<number, number>> {
  const rows = await sql<Account[]>`
    select u.user_id, coalesce(a.balance, 0)::bigint as balance
    from unnest(${[...new Set(userIds)]}::bigint[]) as u (user_id) left join points.accounts a using (user_id)`;
  return byUser(rows);
}

/** Locks the accounts of these shoppers in id order, and returns their balances. A shopper without an account is absent. */
export async function lockAccounts(tx: Transaction, userIds: readonly number[]): Promise<Map<number, number>> {
  return byUser(await lockAccountsStatement(tx, userIds));
}

export const lockAccountsStatement = (tx: Transaction, userIds: readonly number[]) => tx<Account[]>`
  select user_id, balance from points.accounts
  where user_id = any(${[...new Set(userIds)]}::bigint[]) order by user_id for no key update`;

/** Opens the accounts that are missing. The rows are in id order, so that two transactions do not deadlock. */
export const openAccounts = (tx: Transaction, userIds: readonly number[]): Statement => tx`
  insert into points.accounts (user_id) select distinct user_id from unnest(${[...userIds]}::bigint[]) as u (user_id)
  order by user_id on conflict do nothing`;

/** The keys among these that have a row. Call it in a later statement than the lock of the accounts. */
export async function selectKnownKeys(tx: Transaction, keys: readonly string[]): Promise<Set<string>> {
  const rows = await tx<{ cause: string }[]>`select cause from points.logs where cause = any(${[...keys]}::text[])`;
  return new Set(rows.map(({ cause }) => cause));
}

/** Inserts rows and adds them to the balances, in one statement. The accounts exist and are locked. */
export const insertEntries = (tx: Transaction, entries: readonly PointsEntry[], now: Date): Statement => tx`
  with added as (
    insert into points.logs (user_id, type, points, related_id, remark, cause, created_at)
    select user_id, type, points, related_id, remark, key, ${now}
    from json_to_recordset(${JSON.stringify(entries)}::text::json) as e (user_id bigint, type smallint, points bigint,
      related_id bigint, remark text, key text)
    returning user_id, points
  )
  update points.accounts a set balance = a.balance + s.points
  from (select user_id, sum(points)::bigint as points from added group by user_id) as s where a.user_id = s.user_id`;
