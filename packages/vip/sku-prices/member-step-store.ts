import type { Queryable } from '@tradepost/postgres';
import { levelOfAsset } from '../levels/level-store.ts';

/** The level of an active member. */
export type MemberFact = { user_id: number; level_id: number; level_name: string };
/** A member price. Each has an exact SKU, or is for all SKUs of its product (`sku_id` 0). */
export type PriceFact = {
  level_id: number;
  product_id: number;
  sku_id: number;
  vip_price: number;
  vip_discount_rate: number;
};

type Row = { [K in keyof (MemberFact & PriceFact)]: (MemberFact & PriceFact)[K] | null };

/**
 * The active members among these shoppers, and the prices of their levels for these SKUs, in one statement by indexes. It reads no
 * price without such members.
 */
export async function selectMemberFacts(
  sql: Queryable,
  { userIds, skuIds, now }: { userIds: readonly number[]; skuIds: readonly number[]; now: Date },
): Promise<{ members: MemberFact[]; prices: PriceFact[] }> {
  const rows = await sql<Row[]>`
    with members as materialized (
      select a.user_id, l.id as level_id, l.name as level_name
      from vip.assets a cross join lateral ${levelOfAsset(sql)} as l
      where a.user_id = any(${[...userIds]}::bigint[]) and a.status = 1 and a.vip_end_at > ${now}
    ), member_levels as materialized (select distinct level_id from members),
    goods as materialized (
      select s.id as sku_id, s.product_id from catalog.sku_facts s
      where s.id = any(${[...skuIds]}::bigint[]) and exists (select from members)
    )
    select user_id, level_id, level_name, null::bigint as product_id, null::bigint as sku_id, null::bigint as vip_price,
           null::int as vip_discount_rate
    from members
    union all
    select null, l.level_id, null, p.product_id, p.sku_id, p.vip_price, p.vip_discount_rate
    from member_levels l cross join goods g cross join lateral (
      -- At most two rows by the key, of the SKU and of its product: the limit makes the planner look them up.
      select product_id, sku_id, vip_price, vip_discount_rate from vip.sku_prices
      where product_id = g.product_id and sku_id in (0, g.sku_id) and level_id = l.level_id and status = 1 limit 2) as p`;
  return {
    members: rows.filter((row) => row.user_id !== null) as MemberFact[],
    prices: rows.filter((row) => row.user_id === null) as PriceFact[],
  };
}
