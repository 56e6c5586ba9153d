import type { Queryable, Transaction } from '@tradepost/postgres';

export type UserLimits = { rpm_limit: number | null; tpm_limit: number | null };

const inherited: UserLimits = { rpm_limit: null, tpm_limit: null };

/** Both limits are inherited when the user has no row. */
export async function selectUserLimits(sql: Queryable, userId: number): Promise<UserLimits> {
  const [row] = await sql<UserLimits[]>`
    select rpm_limit, tpm_limit from gateway.user_limits where user_id = ${userId}`;
  return row ?? inherited;
}

/** Locks the limits of a user against concurrent changes. Inserts a missing row, because only a row can be locked. */
export async function lockUserLimits(tx: Transaction, userId: number): Promise<UserLimits> {
  await tx`insert into gateway.user_limits (user_id) values (${userId}) on conflict do nothing`;
  const [row] = await tx<UserLimits[]>`
    select rpm_limit, tpm_limit from gateway.user_limits where user_id = ${userId} for update`;
  return row!;
}

/** Inherited limits are stored as a row of nulls, because the poll of the other instances would miss a deleted row. */
export async function updateUserLimits(
  tx: Transaction,
  userId: number,
  { rpm_limit, tpm_limit }: UserLimits,
  before: UserLimits,
  by: string,
): Promise<void> {
  await tx`
    with changed as (
      update gateway.user_limits
      set rpm_limit = ${rpm_limit}, tpm_limit = ${tpm_limit}, updated_at = clock_timestamp()
      where user_id = ${userId} returning user_id, rpm_limit, tpm_limit
    )
    insert into gateway.token_changes (user_id, action, details, changed_by)
    select user_id, 'user_limits', jsonb_build_object('before', ${tx.json(before)}::jsonb,
           'after', jsonb_build_object('rpm_limit', rpm_limit, 'tpm_limit', tpm_limit)), ${by}
    from changed`;
}
