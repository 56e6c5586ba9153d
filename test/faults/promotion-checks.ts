import type { Sql } from '@tradepost/postgres';
import { check, type Outcome } from './scenario.ts';
import { type Buyer, until } from './test-shop.ts';
import type { Verb, Write } from './writes.ts';

/** What the orders of these shoppers can use besides their points. */
export type Promotions = {
  /** The token of an administrator, who grants points and refunds orders. */
  staff: string;
  /** A coupon of 1.00 that shoppers claim again and again. */
  coupon: number;
  /** A coupon with a `total_count` below the number of shoppers, one for each of them. */
  lastCoupons: { id: number; total: number };
  onSale: readonly { sku_id: number; activity_product_id: number }[];
};

/** The shoppers of a load, its writes, and the coupon that each order chose, by the key of the order. */
type Load = Promotions & {
  buyers: readonly Buyer[];
  writes: readonly Write[];
  chosenCoupons: ReadonlyMap<string, number>;
  grantedPoints: number;
};

const idsOf = (buyers: readonly Buyer[]) => buyers.map(({ id }) => id);

/** Each confirmed claim gave one coupon, and each confirmed check-in is one row. Nothing else was stored. */
async function verifyClaims(sql: Sql, outcome: Outcome, { buyers, writes, coupon, lastCoupons }: Load): Promise<void> {
  const rows = await sql<{ id: number; claims: number; last: number; check_ins: number }[]>`
    select b.id::int,
      (select count(*)::int from marketing.user_coupons where user_id = b.id and coupon_id = ${coupon}) as claims,
      (select count(*)::int from marketing.user_coupons where user_id = b.id and coupon_id = ${lastCoupons.id}) as last,
      (select count(*)::int from checkin.check_ins where user_id = b.id) as check_ins
    from unnest(${idsOf(buyers)}::bigint[]) as b (id)`;
  const stored = new Map(rows.map((row) => [row.id, row]));
  for (const { id, token } of buyers) {
    const confirmed = (of: Verb, path: string) =>
      writes.filter(
        (write) => write.verb === of && write.token === token && write.path === path && write.answer?.code === 0,
      ).length;
    const expected = {
      claims: confirmed('claim', `/api/v1/coupons/${coupon}/claim`),
      last: confirmed('claim', `/api/v1/coupons/${lastCoupons.id}/claim`),
      check_ins: confirmed('check_in', '/api/v1/checkin'),
    };
    check(outcome, 'coupons and check-ins of a shopper', stored.get(id), { id, ...expected });
  }
  const claimed = rows.reduce((sum, { last }) => sum + last, 0);
  check(outcome, `claims of a coupon with total_count ${lastCoupons.total}`, claimed, lastCoupons.total);
}

/** A coupon that orders chose reduced at most one order that is not cancelled, and it is marked as used by this order. */
async function verifyCoupons(sql: Sql, outcome: Outcome, { buyers, chosenCoupons }: Load): Promise<void> {
  const twice = await sql`
    with reduced as (
      select c.coupon_id, array_agg(o.id::int order by o.id) as orders
      from unnest(${[...chosenCoupons.keys()]}::text[], ${[...chosenCoupons.values()]}::bigint[]) as c (key, coupon_id)
      join orders.orders o on o.remark = c.key and o.status <> 6
        and o.discounts @> '[{"type": "coupon"}]'
      group by c.coupon_id
    )
    select u.id as user_coupon_id, u.status, u.order_id, r.orders
    from (select * from marketing.user_coupons where user_id = any(${idsOf(buyers)}::bigint[])) as u
    left join reduced r on r.coupon_id = u.id
    where r.orders is distinct from case when u.status = 2 then array[u.order_id::int] end`;
  for (const row of twice) outcome.faults.push(`the orders that a coupon reduced: ${JSON.stringify(row)}`);
}

/** Shoppers have the points that they got and that did not pay for orders. A point pays a cent. */
async function verifyPoints(sql: Sql, outcome: Outcome, { buyers, writes, grantedPoints }: Load): Promise<void> {
  const grants = writes
    .filter(({ verb, answer }) => verb === 'grant' && answer?.code === 0)
    .map(({ body }): number => JSON.parse(body).user_id);
  const wrong = await sql`
    select b.id as user_id, a.balance, got.points + g.points as got, paid.points as paid
    from unnest(${idsOf(buyers)}::bigint[]) as b (id)
    left join points.accounts a on a.user_id = b.id
    cross join lateral (
      select coalesce(sum(points), 0) as points from checkin.check_ins where user_id = b.id) as got
    cross join lateral (
      select ${grantedPoints}::int * count(*) as points from unnest(${grants}::bigint[]) as granted (user_id)
      where granted.user_id = b.id) as g
    cross join lateral (
      select coalesce(sum((d ->> 'amount')::int), 0) as points
      from orders.orders o, jsonb_array_elements(o.discounts) as d
      where o.user_id = b.id and o.status <> 6 and d ->> 'type' = 'points') as paid
    where a.balance is distinct from got.points + g.points - paid.points`;
  for (const row of wrong) outcome.faults.push(`points that were got and paid with: ${JSON.stringify(row)}`);
}

/** A flash sale has sold the pieces in orders that are not cancelled. */
async function verifySold(sql: Sql, outcome: Outcome, { onSale }: Load): Promise<void> {
  const rows = await sql<{ sold: number; ordered: number }[]>`
    select p.sold_qty as sold, coalesce(sum(i.qty) filter (where o.status <> 6), 0)::int as ordered
    from activities.activity_products p
    left join orders.order_items i on i.activity_product_id = p.id left join orders.orders o on o.id = i.order_id
    where p.id = any(${onSale.map((line) => line.activity_product_id)}::bigint[]) group by p.id order by p.id`;
  const soldOf = (of: 'sold' | 'ordered') => rows.map((row) => row[of]);
  check(outcome, 'sold pieces of the flash sale', soldOf('sold'), soldOf('ordered'));
  if (!rows.some(({ sold }) => sold > 0)) outcome.faults.push('the flash sale has sold nothing');
}

/** Compares what shoppers got and used with the answers that they had. Refunded orders return theirs when their events are read. */
export async function verifyPromotions(sql: Sql, outcome: Outcome, load: Load): Promise<void> {
  await until('all events are read', async () => {
    const [row] = await sql<{ n: number }[]>`
      select count(*)::int as n from runtime.outbox where dispatched_at is null and failed_at is null`;
    return row!.n === 0;
  });
  const confirmed = new Set(load.writes.filter(({ answer }) => answer?.code === 0).map(({ verb }) => verb));
  for (const verb of ['claim', 'check_in', 'grant', 'order', 'pay', 'cancel', 'complete'] as const)
    if (!confirmed.has(verb)) outcome.faults.push(`no ${verb} succeeded, so the scenario tested too little`);
  await verifyClaims(sql, outcome, load);
  await verifyCoupons(sql, outcome, load);
  await verifyPoints(sql, outcome, load);
  await verifySold(sql, outcome, load);
}
