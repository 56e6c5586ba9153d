import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import { expireBatch } from '../limits.ts';
import { type UserCoupon, userCouponColumns } from '../storefront/user-coupon-store.ts';
import { endedUpTo } from '../validity.ts';

/** Coupons of shoppers by these ids. With `lock` no other order uses them before the transaction ends. */
export function selectChosen(
  sql: Queryable,
  ids: readonly number[],
  { lock, now }: { lock: boolean; now: Date },
): Promise<UserCoupon[]> {
  return sql<UserCoupon[]>`
    select ${userCouponColumns(sql, now)}
    from marketing.user_coupons u join marketing.coupon_versions v on v.id = u.version_id
    where u.id = any(${[...ids]}::bigint[]) order by u.id ${lock ? sql`for no key update of u` : sql``}`;
}

/** Marks unused coupons, which the transaction has locked, as used by their orders. */
export function markUsed(tx: Transaction, uses: readonly { id: number; order_id: number }[], now: Date): Statement {
  return tx`
    update marketing.user_coupons u set status = 2, order_id = r.order_id, used_at = ${now}
    from unnest(${uses.map(({ id }) => id)}::bigint[], ${uses.map(({ order_id }) => order_id)}::bigint[]) as r (id, order_id)
    where u.id = r.id and u.status = 1`;
}

/** Returns the coupons of these orders to their shoppers: unused again, or expired when they have ended. Harmless when repeated. */
export function markReturned(tx: Transaction, orderIds: readonly number[], now: Date): Statement {
  return tx`
    with locked as materialized (
      select id from marketing.user_coupons
      where order_id = any(${[...orderIds]}::bigint[]) and order_id is not null and status = 2 order by id for no key update
    )
    update marketing.user_coupons u
    set status = case when u.end_at <= ${endedUpTo(now)} then 3 else 1 end, order_id = null, used_at = null
    from locked where u.id = locked.id`;
}

/** Marks unused coupons that have ended as expired. Returns their number: at most `expireBatch`. Those in use are left out. */
export async function markExpired(sql: Queryable, now: Date): Promise<number> {
  const rows = await sql`
    with ended as materialized (
      select id from marketing.user_coupons where status = 1 and end_at <= ${endedUpTo(now)}
      order by end_at limit ${expireBatch} for no key update skip locked
    )
    update marketing.user_coupons u set status = 3 from ended where u.id = ended.id returning u.id`;
  return rows.length;
}
