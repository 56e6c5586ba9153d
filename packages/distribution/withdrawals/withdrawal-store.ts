import type { Paging } from '@tradepost/core';
import { countedPage, plannedByValue, type Queryable, type Statement, type Transaction } from '@tradepost/postgres';
import type { HistoryRow, Withdrawal, WithdrawalStatus } from './withdrawal.ts';

const columns = (sql: Queryable): Statement => sql`
  w.id, w.distributor_id, w.amount, w.fee, w.actual_amount, w.status, w.reject_reason, w.bank_name, w.bank_account_sealed,
  w.bank_account_end, w.account_name, w.processed_at, w.completed_at, w.created_at`;

/** The id for the next withdrawal: the bank account is sealed with it. */
export async function nextWithdrawalId(sql: Queryable): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    select nextval(pg_get_serial_sequence('distribution.withdrawals', 'id')) as id`;
  return row!.id;
}

export async function countOpen(sql: Queryable, distributorId: number): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from distribution.withdrawals
    where distributor_id = ${distributorId} and status in ('pending', 'approved')`;
  return row!.n;
}

/** The withdrawals that wait for staff: to be approved, or to be paid. */
export async function countWaiting(sql: Queryable): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from distribution.withdrawals where status in ('pending', 'approved')`;
  return row!.n;
}

export type NewWithdrawal = Pick<
  Withdrawal,
  'id' | 'distributor_id' | 'amount' | 'fee' | 'bank_name' | 'bank_account_sealed' | 'bank_account_end' | 'account_name'
>;

export const insertWithdrawal = (tx: Transaction, row: NewWithdrawal, now: Date): Statement => tx`
  insert into distribution.withdrawals (id, distributor_id, amount, fee, actual_amount, bank_name, bank_account_sealed,
    bank_account_end, account_name, created_at, updated_at)
  values (${row.id}, ${row.distributor_id}, ${row.amount}, ${row.fee}, ${row.amount - row.fee}, ${row.bank_name},
    ${row.bank_account_sealed}, ${row.bank_account_end}, ${row.account_name}, ${now}, ${now})`;

export const insertHistory = (tx: Transaction, row: HistoryRow): Statement => tx`
  insert into distribution.withdrawal_history (withdrawal_id, from_status, to_status, actor_type, actor_id, reason, created_at)
  values (${row.withdrawal_id}, ${row.from_status}, ${row.to_status}, ${row.actor_type}, ${row.actor_id}, ${row.reason},
    ${row.created_at})`;

/** Moves a withdrawal that is in one of these states. Undefined when it is in another one. */
export async function updateWithdrawal(
  tx: Transaction,
  id: number,
  { from, to, reason, now }: { from: readonly WithdrawalStatus[]; to: WithdrawalStatus; reason: string; now: Date },
): Promise<(Withdrawal & { before: WithdrawalStatus }) | undefined> {
  const [row] = await tx<(Withdrawal & { before: WithdrawalStatus })[]>`
    with locked as (
      select id, status from distribution.withdrawals
      where id = ${id} and status = any(${[...from]}::text[]) for update)
    update distribution.withdrawals w
    set status = ${to}, reject_reason = ${reason}, updated_at = ${now},
        processed_at = ${to === 'completed' ? tx`processed_at` : now},
        completed_at = ${to === 'completed' ? now : null}
    from locked where w.id = locked.id
    returning ${columns(tx)}, locked.status as before`;
  return row;
}

/** Removes the bank accounts of these shoppers from their withdrawals that have ended. */
export async function eraseEndedAccounts(tx: Transaction, userIds: readonly number[]): Promise<void> {
  await tx`
    update distribution.withdrawals w
    set bank_name = '', bank_account_sealed = null, bank_account_end = '', account_name = ''
    from distribution.distributors d
    where d.id = w.distributor_id and d.user_id = any(${[...userIds]}::bigint[]) and w.status in ('rejected', 'completed')`;
}

/** Null or absent: any. */
export type WithdrawalFilter = {
  readonly id?: number;
  readonly distributor_id?: number | null;
  readonly statuses?: readonly WithdrawalStatus[] | null;
};

/** A page of withdrawals, the newest first. */
export async function selectWithdrawals(
  sql: Queryable,
  { id, distributor_id, statuses }: WithdrawalFilter,
  { size, offset }: Pick<Paging, 'size' | 'offset'>,
): Promise<{ rows: Withdrawal[]; total: number }> {
  const found = sql`
    from distribution.withdrawals w
    where true ${id === undefined ? sql`` : sql`and w.id = ${id}`}
      ${distributor_id ? sql`and w.distributor_id = ${distributor_id}` : sql``}
      ${statuses ? sql`and w.status = any(${[...statuses]}::text[])` : sql``}`;
  const rows = await plannedByValue(sql<(Withdrawal & { total_found: number })[]>`
    with counted as (select count(*)::int as total_found ${found}),
    page as (select ${columns(sql)} ${found} order by w.id desc limit ${size} offset ${offset})
    select counted.total_found, page.* from counted left join page on true order by page.id desc`);
  return countedPage<Withdrawal>(rows);
}

export async function selectWithdrawal(sql: Queryable, id: number): Promise<Withdrawal | undefined> {
  const { rows } = await selectWithdrawals(sql, { id }, { size: 1, offset: 0 });
  return rows[0];
}

export async function selectHistory(sql: Queryable, withdrawalId: number): Promise<HistoryRow[]> {
  return sql<HistoryRow[]>`
    select withdrawal_id, from_status, to_status, actor_type, actor_id, reason, created_at
    from distribution.withdrawal_history where withdrawal_id = ${withdrawalId} order by id`;
}
