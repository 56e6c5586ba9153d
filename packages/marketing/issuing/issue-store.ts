import type { Transaction } from '@tradepost/postgres';
import type { Coupon } from '../coupons/coupon.ts';
import { maxSend } from '../limits.ts';

/** A coupon of a shopper that was written. */
export type IssuedRow = { id: number; coupon_id: number; user_id: number };
export type NewUserCoupon = {
  readonly coupon_id: number;
  readonly version_id: number;
  readonly user_id: number;
  readonly source: string;
  readonly end_at: Date | null;
};

/** The key of a coupon and a shopper. */
export const pairKey = ({ coupon_id, user_id }: { coupon_id: number; user_id: number }) => `${coupon_id}/${user_id}`;

/** How many of these coupons each shopper has, by `pairKey`. Call it when the coupons are locked. */
export async function countOwn(
  tx: Transaction,
  pairs: readonly { coupon_id: number; user_id: number }[],
): Promise<Map<string, number>> {
  const rows = await tx<{ coupon_id: number; user_id: number; n: number }[]>`
    select p.coupon_id, p.user_id, own.n
    from (select distinct * from unnest(${pairs.map((p) => p.coupon_id)}::bigint[], ${pairs.map((p) => p.user_id)}::bigint[])
      as u (coupon_id, user_id)) as p
    cross join lateral (
      select count(*)::int as n from marketing.user_coupons u where u.coupon_id = p.coupon_id and u.user_id = p.user_id) as own
    where own.n > 0`;
  return new Map(rows.map((row) => [pairKey(row), row.n]));
}

/** Writes coupons of shoppers and counts them on the coupons, which the caller has locked. */
export async function insertUserCoupons(
  tx: Transaction,
  rows: readonly NewUserCoupon[],
  now: Date,
): Promise<IssuedRow[]> {
  return tx<IssuedRow[]>`
    with issued as (
      insert into marketing.user_coupons (coupon_id, version_id, user_id, source, end_at, created_at)
      select coupon_id, version_id, user_id, source, end_at, ${now}
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (coupon_id bigint, version_id bigint, user_id bigint,
        source text, end_at timestamptz)
      returning id, coupon_id, user_id
    ), counted as (
      update marketing.coupons c set claimed_count = c.claimed_count + n.issued
      from (select coupon_id, count(*)::int as issued from issued group by coupon_id) as n where c.id = n.coupon_id
    )
    select id, coupon_id, user_id from issued order by id`;
}

/**
 * Sends a coupon that the caller has locked to at most `limit` shoppers, by their ids: active accounts that have fewer of it than
 * one may have. `members` null means shoppers of any level.
 */
export async function insertSent(
  tx: Transaction,
  coupon: Coupon,
  of: { limit: number; members: readonly number[] | null; now: Date },
): Promise<IssuedRow[]> {
  const { limit, members, now } = of;
  const newOnly = coupon.target_type === 'new_user';
  return tx<IssuedRow[]>`
    with own as materialized (
      select user_id from marketing.user_coupons where coupon_id = ${coupon.id} and ${coupon.per_limit}::int > 0
      group by user_id having count(*) >= ${coupon.per_limit}
    ), receivers as (
      select s.id from identity.active_shoppers s
      where not exists (select from own where own.user_id = s.id)
        ${members === null ? tx`` : tx`and s.id = any(${[...members]}::bigint[])`}
        ${newOnly ? tx`and not exists (select from orders.order_facts o where o.user_id = s.id and o.paid_at is not null)` : tx``}
      order by s.id limit ${Math.min(limit, maxSend)}
    ), issued as (
      insert into marketing.user_coupons (coupon_id, version_id, user_id, source, end_at, created_at)
      select ${coupon.id}, ${coupon.version_id}, id, 'send', ${coupon.end_at}, ${now} from receivers order by id
      returning id, coupon_id, user_id
    ), counted as (
      update marketing.coupons c
      set claimed_count = c.claimed_count + n.sent, used_count = c.used_count + n.sent, updated_at = ${now}
      from (select count(*)::int as sent from issued) as n where c.id = ${coupon.id} and n.sent > 0
    )
    select id, coupon_id, user_id from issued order by id`;
}
