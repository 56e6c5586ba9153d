import type { Sql } from '@tradepost/postgres';
import { startOf } from '../days/order-facts.ts';
import { type Day, postgresZone } from '../days/shop-days.ts';
import { firstDayOf, type Period } from '../days/window-store.ts';

/** Carts that are not ordered, by the day of their newest line. */
export async function countOpenCarts(sql: Sql, period: Period): Promise<ReadonlyMap<Day, number>> {
  const { zone } = period;
  const rows = await sql<{ day: Day; carts: number }[]>`
    with carts as (
      select user_id, max(created_at) as at from orders.cart_facts group by user_id
    )
    select (at at time zone ${postgresZone(zone)})::date::text as day, count(*)::int as carts from carts
    where at >= ${startOf(sql, firstDayOf(period), zone)} group by 1`;
  return new Map(rows.map(({ day, carts }) => [day, carts]));
}
