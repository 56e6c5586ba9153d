import type { Paging } from '@tradepost/core';
import { countedPage, plannedByValue, type Queryable, type Transaction } from '@tradepost/postgres';
import type { Distributor, DistributorStatus } from './distributor.ts';

/** Null or absent: any. `keyword` is lower-cased: a part of the nickname or of the phone. */
export type DistributorFilter = {
  readonly id?: number;
  readonly user_id?: number;
  readonly parent_id?: number;
  readonly statuses?: readonly DistributorStatus[] | null;
  readonly keyword?: string | null;
};

/** A page of distributors, the newest first. */
export async function selectDistributors(
  sql: Queryable,
  { id, user_id, parent_id, statuses, keyword }: DistributorFilter,
  { size, offset }: Pick<Paging, 'size' | 'offset'>,
): Promise<{ rows: Distributor[]; total: number }> {
  const found = sql`
    from distribution.distributors d left join identity.shopper_names s on s.id = d.user_id
    where true ${id === undefined ? sql`` : sql`and d.id = ${id}`}
      ${user_id === undefined ? sql`` : sql`and d.user_id = ${user_id}`}
      ${parent_id === undefined ? sql`` : sql`and d.parent_id = ${parent_id}`}
      ${statuses ? sql`and d.status = any(${[...statuses]}::text[])` : sql``}
      ${keyword ? sql`and (position(${keyword} in lower(s.nickname)) > 0 or position(${keyword} in d.phone) > 0)` : sql``}`;
  const rows = await plannedByValue(sql<(Distributor & { total_found: number })[]>`
    with counted as (select count(*)::int as total_found ${found}),
    page as (
      select d.*, coalesce(s.nickname, '') as nickname,
             (select count(*)::int from distribution.bindings b where b.distributor_id = d.id) as total_customers
      ${found} order by d.id desc limit ${size} offset ${offset})
    select counted.total_found, page.id, page.user_id, page.parent_id, page.level, page.status, page.real_name,
           page.id_card_sealed, page.id_card_end, page.phone, page.total_earnings, page.available_amount, page.frozen_amount,
           page.withdrawn_amount, page.debt_amount, page.total_orders, page.total_customers, page.nickname, page.created_at,
           page.updated_at
    from counted left join page on true order by page.id desc`);
  return countedPage<Distributor>(rows);
}

export async function selectDistributor(
  sql: Queryable,
  by: { id: number } | { user_id: number },
): Promise<Distributor | undefined> {
  const { rows } = await selectDistributors(sql, by, { size: 1, offset: 0 });
  return rows[0];
}

/** The id for the next distributor: the identity card number is sealed with it. */
export async function nextDistributorId(sql: Queryable): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    select nextval(pg_get_serial_sequence('distribution.distributors', 'id')) as id`;
  return row!.id;
}

export async function selectActive(tx: Transaction, id: number): Promise<{ id: number; level: number } | undefined> {
  const [row] = await tx<{ id: number; level: number }[]>`
    select id, level from distribution.distributors where id = ${id} and status = 'active'`;
  return row;
}

/** The distributor that a shopper is bound to. */
export async function selectBinding(sql: Queryable, userId: number): Promise<number | undefined> {
  const [row] = await sql<{ distributor_id: number }[]>`
    select distributor_id from distribution.bindings where user_id = ${userId}`;
  return row?.distributor_id;
}

export type NewDistributor = Pick<
  Distributor,
  'id' | 'user_id' | 'parent_id' | 'level' | 'status' | 'real_name' | 'id_card_sealed' | 'id_card_end' | 'phone'
>;

/** Returns false when the shopper has applied already. */
export async function insertDistributor(tx: Transaction, row: NewDistributor, now: Date): Promise<boolean> {
  const written = await tx`
    insert into distribution.distributors (id, user_id, parent_id, level, status, real_name, id_card_sealed, id_card_end, phone,
      created_at, updated_at)
    values (${row.id}, ${row.user_id}, ${row.parent_id}, ${row.level}, ${row.status}, ${row.real_name}, ${row.id_card_sealed},
      ${row.id_card_end}, ${row.phone}, ${now}, ${now})
    on conflict (user_id) do nothing returning id`;
  return written.length > 0;
}

/** Locks a distributor and sets the status. Returns the status before; undefined when there is no such distributor. */
export async function updateStatus(
  tx: Transaction,
  id: number,
  status: DistributorStatus,
  now: Date,
): Promise<{ before: DistributorStatus; user_id: number; is_deleted: boolean } | undefined> {
  const [row] = await tx<{ before: DistributorStatus; user_id: number; is_deleted: boolean }[]>`
    with locked as (
      select id, status, user_id, deleted_at is not null as is_deleted
      from distribution.distributors where id = ${id} for no key update),
    moved as (
      update distribution.distributors d set status = ${status}, updated_at = ${now}
      from locked where d.id = locked.id and not locked.is_deleted and locked.status <> ${status})
    select status as before, user_id, is_deleted from locked`;
  return row;
}

/** Binds a shopper to a distributor, once. Returns the distributor that the shopper belongs to then. */
export async function insertBinding(
  tx: Transaction,
  userId: number,
  distributorId: number,
  now: Date,
): Promise<number> {
  await tx`
    insert into distribution.bindings (user_id, distributor_id, created_at) values (${userId}, ${distributorId}, ${now})
    on conflict (user_id) do nothing`;
  return (await selectBinding(tx, userId))!;
}

/** Whether the shopper has paid an order. */
export async function hasPaidOrder(sql: Queryable, userId: number): Promise<boolean> {
  const [row] = await sql<{ paid: boolean }[]>`
    select exists (select from orders.order_facts where user_id = ${userId} and paid_at is not null) as paid`;
  return row!.paid;
}

/** Removes the personal data of shoppers who deleted their accounts. Data that an open withdrawal needs stays until it ends. */
export async function forgetShoppers(tx: Transaction, userIds: readonly number[], now: Date): Promise<void> {
  await tx`
    update distribution.distributors
    set status = 'disabled', real_name = '', id_card_sealed = null, id_card_end = '', phone = '', deleted_at = ${now},
        updated_at = ${now}
    where user_id = any(${[...userIds]}::bigint[]) and deleted_at is null`;
  await tx`delete from distribution.bindings where user_id = any(${[...userIds]}::bigint[])`;
}
