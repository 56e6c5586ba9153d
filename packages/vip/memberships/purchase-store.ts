import type { Queryable, Statement, Transaction } from '@tradepost/postgres';

type PurchaseStatus = 'pending' | 'paid' | 'expired' | 'cancelled';
/** A purchase of a plan. `amount` in minor units. */
export type Purchase = {
  id: number;
  user_id: number;
  plan_id: number;
  plan_name: string;
  months: number;
  amount: number;
  provider: string;
  status: PurchaseStatus;
  created_at: Date;
  expires_at: Date;
};
export type NewPurchase = Omit<Purchase, 'id'> & {
  paid_at: Date | null;
  starts_at: Date | null;
  ends_at: Date | null;
};

const columns = (sql: Queryable) => sql`
  id, user_id, plan_id, plan_name, months, amount, provider, status, created_at, expires_at`;

export async function insertPurchase(tx: Transaction, purchase: NewPurchase): Promise<Purchase> {
  const [row] = await tx<Purchase[]>`
    insert into vip.purchases ${tx(purchase as never)} returning ${columns(tx)}`;
  return row!;
}

/** The unpaid purchase of this plan. The asset of the shopper is locked, so there is at most one. */
export async function lockPending(tx: Transaction, userId: number, planId: number): Promise<Purchase | undefined> {
  const [row] = await tx<Purchase[]>`
    select ${columns(tx)} from vip.purchases
    where user_id = ${userId} and plan_id = ${planId} and status = 'pending' for no key update`;
  return row;
}

/** The shoppers of these purchases. */
export async function selectBuyers(tx: Transaction, ids: readonly number[]): Promise<number[]> {
  const rows = await tx<{ user_id: number }[]>`
    select distinct user_id from vip.purchases where id = any(${[...ids]}::bigint[])`;
  return rows.map((row) => row.user_id);
}

/** Locks purchases in id order. */
export async function lockPurchases(tx: Transaction, ids: readonly number[]): Promise<Purchase[]> {
  return tx<Purchase[]>`
    select ${columns(tx)} from vip.purchases where id = any(${[...ids]}::bigint[]) order by id for no key update`;
}

export type Settled = { id: number; paid_at: Date; starts_at: Date; ends_at: Date };

/** Marks locked purchases as paid. The statement fails when one of them is not pending. */
export const settlePurchases = (tx: Transaction, settled: readonly Settled[]): Statement => tx`
  with moved as (
    update vip.purchases p
    set status = 'paid', paid_at = s.paid_at, starts_at = s.starts_at, ends_at = s.ends_at
    from json_to_recordset(${JSON.stringify(settled)}::text::json)
      as s (id bigint, paid_at timestamptz, starts_at timestamptz, ends_at timestamptz)
    where p.id = s.id and p.status = 'pending'
    returning 1)
  select runtime.must(count(*) = ${settled.length}, 'a purchase changed its status while it was locked') from moved`;

/** Ends a locked purchase that was not paid. */
export async function closePurchase(tx: Transaction, id: number, to: 'expired' | 'cancelled'): Promise<void> {
  await tx`update vip.purchases set status = ${to} where id = ${id} and status = 'pending'`;
}

/** Ends purchases whose time to pay is over. Returns their ids, at most `limit`. */
export async function expirePurchases(tx: Transaction, now: Date, limit: number): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    update vip.purchases set status = 'expired'
    where status = 'pending' and id in (
      select id from vip.purchases where status = 'pending' and expires_at <= ${now} order by id limit ${limit}
      -- skip locked: a notice about it is being processed
      for no key update skip locked)
    returning id`;
  return rows.map((row) => row.id);
}

/** Ends the unpaid purchases of shoppers who deleted their accounts. Returns their ids. */
export async function cancelPurchasesOf(tx: Transaction, userIds: readonly number[]): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    with locked as materialized (
      select id from vip.purchases where user_id = any(${[...userIds]}::bigint[]) and status = 'pending'
      order by id for no key update)
    update vip.purchases p set status = 'cancelled' from locked where p.id = locked.id returning p.id`;
  return rows.map((row) => row.id);
}
