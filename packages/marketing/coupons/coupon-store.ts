import type { Paging } from '@tradepost/core';
import type { Queryable, Transaction } from '@tradepost/postgres';
import { maxCoupons } from '../limits.ts';
import type { Coupon, CouponFields } from './coupon.ts';

export const couponColumns = (sql: Queryable) => sql`
  c.id, c.name, c.type, c.min_amount, c.discount, c.start_at, c.end_at, c.description, c.stack_rule, c.target_type,
  c.target_value, c.total_count, c.per_limit, c.status, c.claimed_count, c.used_count, c.version_id, c.created_at, c.updated_at`;

export type CouponFilter = { readonly keyword: string; readonly status: number | null; readonly type: number | null };

const likeText = (text: string) => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

/** A page of the coupons that are not deleted, newest first. */
export async function selectCoupons(
  sql: Queryable,
  { keyword, status, type }: CouponFilter,
  paging: Paging,
): Promise<{ rows: Coupon[]; total: number }> {
  const rows = await sql<(Coupon & { total: number })[]>`
    with matching as (
      select id from marketing.coupons
      where deleted_at is null ${status === null ? sql`` : sql`and status = ${status}`}
        ${type === null ? sql`` : sql`and type = ${type}`}
        ${keyword === '' ? sql`` : sql`and name ilike ${likeText(keyword)}`}
    ), page as (select id from matching order by id desc limit ${paging.size} offset ${paging.offset})
    select counted.total, ${couponColumns(sql)}
    from (select count(*)::int as total from matching) as counted
    left join (page join marketing.coupons c using (id)) on true order by c.id desc`;
  return {
    rows: rows.filter(({ id }) => id !== null).map(({ total: _total, ...row }) => row),
    total: rows[0]?.total ?? 0,
  };
}

/** Makes other transactions that add coupons wait until this one ends. Claims and sends do not wait. */
export const lockNewCoupons = (tx: Transaction) =>
  tx`select pg_advisory_xact_lock(hashtextextended('marketing.coupons', 0))`;

/** The coupons with these ids that are not deleted. No other transaction changes or issues them until this one ends. */
export const lockCoupons = (tx: Transaction, ids: readonly number[]): Promise<Coupon[]> => tx<Coupon[]>`
  select ${couponColumns(tx)} from marketing.coupons c
  where c.id = any(${[...ids]}::bigint[]) and c.deleted_at is null order by c.id for no key update`;

const versionColumns = (sql: Queryable) => sql`
  name, type, min_amount, discount, start_at, end_at, description, stack_rule, total_count, per_limit`;

/**
 * Adds coupons with their first versions. Returns fewer rows when the shop would have more than it may; the caller has taken
 * `lockNewCoupons`.
 */
export async function insertCoupons(tx: Transaction, coupons: readonly CouponFields[], now: Date): Promise<Coupon[]> {
  const rows = await tx<{ id: number }[]>`
    insert into marketing.coupons (name, type, min_amount, discount, start_at, end_at, description, stack_rule, target_type,
      target_value, total_count, per_limit, status, created_at, updated_at)
    select name, type, min_amount, discount, start_at, end_at, description, stack_rule, target_type, target_value, total_count,
      per_limit, status, ${now}, ${now}
    from json_to_recordset(${JSON.stringify(coupons)}::text::json) as c (name text, type smallint, min_amount bigint,
      discount bigint, start_at timestamptz, end_at timestamptz, description text, stack_rule text, target_type text,
      target_value jsonb, total_count int, per_limit int, status smallint)
    where (select count(*) from marketing.coupons where deleted_at is null) + ${coupons.length} <= ${maxCoupons}
    returning id`;
  const ids = rows.map(({ id }) => id);
  return ids.length > 0 ? addVersions(tx, ids, now) : [];
}

/** Makes the present fields of these coupons their new versions. Returns the coupons. */
export async function addVersions(tx: Transaction, ids: readonly number[], now: Date): Promise<Coupon[]> {
  return tx<Coupon[]>`
    with added as (
      insert into marketing.coupon_versions (coupon_id, ${versionColumns(tx)}, created_at)
      select id, ${versionColumns(tx)}, ${now} from marketing.coupons where id = any(${[...ids]}::bigint[]) order by id
      returning id, coupon_id
    )
    update marketing.coupons c set version_id = added.id from added where c.id = added.coupon_id
    returning ${couponColumns(tx)}`;
}

/** Writes all editable fields of a coupon that the caller has locked. */
export async function updateCoupon(tx: Transaction, id: number, coupon: CouponFields, now: Date): Promise<void> {
  await tx`
    update marketing.coupons
    set name = ${coupon.name}, type = ${coupon.type}, min_amount = ${coupon.min_amount}, discount = ${coupon.discount},
        start_at = ${coupon.start_at}, end_at = ${coupon.end_at}, description = ${coupon.description},
        stack_rule = ${coupon.stack_rule}, target_type = ${coupon.target_type},
        target_value = ${JSON.stringify(coupon.target_value)}::text::jsonb, total_count = ${coupon.total_count},
        per_limit = ${coupon.per_limit}, status = ${coupon.status}, updated_at = ${now}
    where id = ${id}`;
}

/** Marks coupons as deleted. Shoppers keep theirs. Returns the ids of those that were not deleted before. */
export async function deleteCoupons(tx: Transaction, ids: readonly number[], now: Date): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    update marketing.coupons set deleted_at = ${now}, updated_at = ${now}
    where id = any(${[...ids]}::bigint[]) and deleted_at is null returning id`;
  return rows.map(({ id }) => id);
}

/** The names of these coupons, by id, without deleted ones. */
export async function selectCouponNames(sql: Queryable, ids: readonly number[]): Promise<Map<number, string>> {
  const rows = await sql<{ id: number; name: string }[]>`
    select id, name from marketing.coupons where id = any(${[...ids]}::bigint[]) and deleted_at is null`;
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** The newest coupon with each of these names that is not deleted, by name. */
export async function selectNewestWithNames(sql: Queryable, names: readonly string[]): Promise<Map<string, number>> {
  const rows = await sql<{ id: number; name: string }[]>`
    select distinct on (name) name, id from marketing.coupons
    where name = any(${[...names]}::text[]) and deleted_at is null order by name, id desc`;
  return new Map(rows.map(({ id, name }) => [name, id]));
}
