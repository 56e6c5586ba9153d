import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import type { Bargain, Help } from '../bargain.ts';

export const bargainColumns = (sql: Queryable): Statement => sql`
  b.id, b.activity_id, b.activity_product_id, b.activity_name, b.product_id, b.sku_id, b.owner_id, b.start_price, b.floor_price,
  b.current_price, b.min_cut, b.max_cut, b.max_helpers, b.help_count, b.status, b.expire_at, b.created_at, b.ended_at, b.order_id`;

type RowOfOwner = Pick<Bargain, 'owner_id' | 'activity_product_id' | 'sku_id'>;

/** Locks the bargains of a shopper for one row and SKU that are open, or succeeded and not bought; the oldest first. */
export async function lockUsableBargains(tx: Transaction, of: RowOfOwner): Promise<Bargain[]> {
  return tx<Bargain[]>`
    select ${bargainColumns(tx)} from bargain.bargains b
    where b.owner_id = ${of.owner_id} and b.activity_product_id = ${of.activity_product_id} and b.sku_id = ${of.sku_id}
      and (b.status = 'pending' or (b.status = 'success' and b.order_id is null))
    order by b.id for no key update`;
}

export type NewBargain = Omit<Bargain, 'id' | 'current_price' | 'help_count' | 'status' | 'ended_at' | 'order_id'>;

/**
 * Inserts a bargain. One whose start is its floor has succeeded. Undefined when the shopper has an open bargain for the row and
 * SKU, which another call has inserted at the same time.
 */
export async function insertBargain(tx: Transaction, bargain: NewBargain): Promise<Bargain | undefined> {
  const [row] = await tx<Bargain[]>`
    insert into bargain.bargains as b (activity_id, activity_product_id, activity_name, product_id, sku_id, owner_id, start_price,
      floor_price, current_price, min_cut, max_cut, max_helpers, expire_at, created_at, status, ended_at)
    values (${bargain.activity_id}, ${bargain.activity_product_id}, ${bargain.activity_name}, ${bargain.product_id},
      ${bargain.sku_id}, ${bargain.owner_id}, ${bargain.start_price}, ${bargain.floor_price}, ${bargain.start_price},
      ${bargain.min_cut}, ${bargain.max_cut}, ${bargain.max_helpers}, ${bargain.expire_at}, ${bargain.created_at},
      ${bargain.start_price === bargain.floor_price ? 'success' : 'pending'},
      ${bargain.start_price === bargain.floor_price ? bargain.created_at : null})
    on conflict (owner_id, activity_product_id, sku_id) where status = 'pending' do nothing
    returning ${bargainColumns(tx)}`;
  return row;
}

/** Locks a bargain until the transaction ends. */
export async function lockBargain(tx: Transaction, id: number): Promise<Bargain | undefined> {
  const [row] = await tx<Bargain[]>`
    select ${bargainColumns(tx)} from bargain.bargains b where b.id = ${id} for no key update`;
  return row;
}

/** Whether this shopper has helped. Call it in a later statement than the lock of the bargain. */
export async function hasHelped(tx: Transaction, bargainId: number, userId: number): Promise<boolean> {
  const rows = await tx`select from bargain.helps where bargain_id = ${bargainId} and user_id = ${userId}`;
  return rows.length > 0;
}

/** Writes a help on a locked open bargain, and cuts its price. At the floor it has succeeded. */
export async function insertHelp(
  tx: Transaction,
  help: { bargain_id: number; user_id: number; cut_amount: number },
  now: Date,
): Promise<Bargain> {
  const [row] = await tx<Bargain[]>`
    with help as (
      insert into bargain.helps (bargain_id, user_id, cut_amount, created_at)
      values (${help.bargain_id}, ${help.user_id}, ${help.cut_amount}, ${now})
      returning bargain_id, cut_amount
    )
    update bargain.bargains b
    set current_price = b.current_price - help.cut_amount, help_count = b.help_count + 1,
        status = case when b.current_price - help.cut_amount = b.floor_price then 'success' else b.status end,
        ended_at = case when b.current_price - help.cut_amount = b.floor_price then ${now}::timestamptz end
    from help where b.id = help.bargain_id and b.status = 'pending'
    returning ${bargainColumns(tx)}`;
  if (!row) throw new Error(`bargain ${help.bargain_id} is not locked, or not open`);
  return row;
}

/** The helps of a bargain, the first one first. */
export async function selectHelps(sql: Queryable, bargainId: number): Promise<Help[]> {
  return sql<Help[]>`
    select h.id, h.bargain_id, h.user_id, h.cut_amount, coalesce(u.nickname, '') as user_nickname, h.created_at
    from bargain.helps h left join identity.shopper_names u on u.id = h.user_id
    where h.bargain_id = ${bargainId} order by h.id`;
}

/** Fails open bargains that have expired. One that another transaction has locked is left for the next call. */
export async function failExpiredBargains(tx: Transaction, now: Date, limit: number): Promise<Bargain[]> {
  return tx<Bargain[]>`
    with due as materialized (
      select id from bargain.bargains where status = 'pending' and expire_at <= ${now}
      order by expire_at, id limit ${limit} for no key update skip locked
    )
    update bargain.bargains b set status = 'failed', ended_at = ${now}
    from due where b.id = due.id and b.status = 'pending'
    returning ${bargainColumns(tx)}`;
}

/** Fails locked open bargains. */
export async function failBargains(tx: Transaction, ids: readonly number[], now: Date): Promise<Bargain[]> {
  return tx<Bargain[]>`
    update bargain.bargains b set status = 'failed', ended_at = ${now}
    where b.id = any(${[...ids]}::bigint[]) and b.status = 'pending'
    returning ${bargainColumns(tx)}`;
}
