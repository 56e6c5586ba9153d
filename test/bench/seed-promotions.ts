import type { Sql } from '@tradepost/postgres';
import type { ActivityLine } from './scenarios.ts';

/** Pieces that an activity sells, beyond what a run can order. */
const manyPieces = 1_000_000_000;

/** Creates a running flash sale of these SKUs, ten per cent below their price. `cap` is the most pieces of each. */
export async function seedFlashSale(sql: Sql, skuIds: readonly number[], cap = manyPieces): Promise<ActivityLine[]> {
  return sql<ActivityLine[]>`
    with activity as (
      insert into activities.activities (type, name, start_at, end_at)
      values ('seckill', 'Flash sale of the bench', now() - interval '1 hour', now() + interval '30 days') returning id
    )
    insert into activities.activity_products (activity_id, product_id, sku_id, activity_price, total_stock_limit)
    select activity.id, s.product_id, s.id, s.price * 9 / 10, ${cap}
    from activity, catalog.sku_cards s where s.id = any(${[...skuIds]}::bigint[])
    returning sku_id, id as activity_product_id`;
}

/** Makes all shoppers of the bench members, with a member price for every product. */
export async function seedMembers(sql: Sql): Promise<void> {
  await sql`
    with plan as (
      insert into vip.plans (name, months, price) values ('Bench', 12, 9900) returning id
    ), level as (
      insert into vip.levels (name, growth_threshold) values ('Bench', 0) returning id
    ), priced as (
      insert into vip.sku_prices (product_id, level_id, vip_price) select p.id, level.id, p.price - 50 from level, catalog.product_cards p
    )
    insert into vip.assets (user_id, current_plan_id, vip_start_at, vip_end_at, months, status)
    select s.id, plan.id, now(), now() + interval '1 year', 12, 1 from plan, identity.shoppers s where s.username like 'bench%'
    -- Paid orders have given growth to some of them.
    on conflict (user_id) do update
      set current_plan_id = excluded.current_plan_id, vip_start_at = excluded.vip_start_at, vip_end_at = excluded.vip_end_at,
        months = excluded.months, status = 1`;
}

/** Gives each shopper of the bench this number of coupons of 1.00. Returns their ids, by shopper in the order of their ids. */
export async function seedCoupons(sql: Sql, each: number): Promise<number[][]> {
  const rows = await sql<{ ids: number[] }[]>`
    with coupon as (
      insert into marketing.coupons (name, type, discount, stack_rule) values ('Bench', 3, 100, 'exclusive') returning id
    ), version as (
      insert into marketing.coupon_versions (coupon_id, name, type, min_amount, discount, description, stack_rule, total_count, per_limit)
      select id, 'Bench', 3, 0, 100, '', 'exclusive', 0, 0 from coupon returning id, coupon_id
    ), given as (
      insert into marketing.user_coupons (coupon_id, version_id, user_id, source)
      select v.coupon_id, v.id, s.id, 'claim' from version v, identity.shoppers s, generate_series(1, ${each})
      where s.username like 'bench%' returning id, user_id
    )
    select array_agg(id order by id) as ids from given group by user_id order by user_id`;
  return rows.map((row) => row.ids);
}

/** A full reduction of 0.50 from 1.00. */
export async function seedFullReduction(sql: Sql): Promise<void> {
  await sql`insert into marketing.full_reductions (name, tiers) values ('Bench', ${sql.json([{ min: 100, reduce: 50 }])})`;
}

/** Gives each shopper of the bench 1,000,000 points. */
export async function seedPoints(sql: Sql): Promise<void> {
  await sql`
    with given as (
      insert into points.logs (user_id, type, points, cause, created_at)
      select id, 5, 1000000, 'bench:' || id, now() from identity.shoppers where username like 'bench%' returning user_id, points
    )
    insert into points.accounts (user_id, balance) select user_id, points from given`;
}
