import type { Paging } from '@tradepost/core';
import type { Queryable } from '@tradepost/postgres';
import type { Coupon, CouponTerms } from '../coupons/coupon.ts';
import { couponColumns } from '../coupons/coupon-store.ts';
import { endedUpTo, validNow } from '../validity.ts';

/** 1 unused, 2 used, 3 expired. */
export type UserCouponStatus = 1 | 2 | 3;

/** A coupon of a shopper, with the version that the shopper got. */
export type UserCoupon = CouponTerms & {
  readonly id: number;
  readonly coupon_id: number;
  readonly user_id: number;
  readonly status: UserCouponStatus;
  readonly used_at: Date | null;
  readonly order_id: number | null;
  readonly created_at: Date;
};

/** The columns of a coupon of a shopper `u` and its version `v`. An unused coupon after its end is expired. */
export const userCouponColumns = (sql: Queryable, now: Date) => sql`
  u.id, u.coupon_id, u.user_id,
  case when u.status = 1 and u.end_at <= ${endedUpTo(now)} then 3 else u.status end as status,
  u.used_at, u.order_id, u.created_at,
  v.name, v.type, v.min_amount, v.discount, v.start_at, v.end_at, v.description, v.stack_rule`;

/** A page of the coupons of a shopper, newest first, in one state or in all with null. */
export function selectUserCoupons(
  sql: Queryable,
  of: { userId: number; status: UserCouponStatus | null; now: Date },
  paging: Paging,
): Promise<UserCoupon[]> {
  const { userId, status, now } = of;
  return sql<UserCoupon[]>`
    select ${userCouponColumns(sql, now)}
    from marketing.user_coupons u join marketing.coupon_versions v on v.id = u.version_id
    where u.user_id = ${userId}
      ${status === null ? sql`` : sql`and case when u.status = 1 and u.end_at <= ${endedUpTo(now)} then 3 else u.status end = ${status}`}
    order by u.id desc limit ${paging.size} offset ${paging.offset}`;
}

/** An enabled coupon, with what the shopper has of it. `has_bought` is read for coupons for new shoppers. */
export type ClaimableCoupon = Coupon & { readonly claimed_by_me: number; readonly has_bought: boolean };

/** A page of the coupons that are enabled and valid now, newest first. */
export function selectClaimable(
  sql: Queryable,
  { userId, now }: { userId: number; now: Date },
  paging: Paging,
): Promise<ClaimableCoupon[]> {
  return sql<ClaimableCoupon[]>`
    with page as (
      select * from marketing.coupons where deleted_at is null and status = 1 and ${validNow(sql, now)}
      order by id desc limit ${paging.size} offset ${paging.offset}
    )
    select ${couponColumns(sql)}, own.n as claimed_by_me,
           case when c.target_type = 'new_user'
             then exists (select from orders.order_facts o where o.user_id = ${userId} and o.paid_at is not null)
             else false end as has_bought
    from page c
    cross join lateral (
      select count(*)::int as n from marketing.user_coupons u where u.coupon_id = c.id and u.user_id = ${userId}) as own
    order by c.id desc`;
}
