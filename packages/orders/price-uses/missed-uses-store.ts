import type { Queryable } from '@tradepost/postgres';
import type { OrderWithUses } from '@tradepost/pricing';

/** The price steps of which these orders use something, without the steps that are `known`. */
export async function selectOtherSteps(
  sql: Queryable,
  orderIds: readonly number[],
  known: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ step: string }[]>`
    select distinct step from orders.orders o cross join lateral unnest(o.price_steps) as s (step)
    where o.id = any(${[...orderIds]}::bigint[]) and step <> all(${[...known]}::text[]) order by step`;
  return rows.map(({ step }) => step);
}

/** Cancelled orders that use something of these steps, in id order, after this id. */
export async function selectCancelledWith(
  sql: Queryable,
  steps: readonly string[],
  { after, limit }: { after: number; limit: number },
): Promise<OrderWithUses[]> {
  return sql<OrderWithUses[]>`
    select id, order_no, user_id, price_steps from orders.orders
    where status = 6 -- cancelled
      and price_steps && ${[...steps]}::text[] and id > ${after}
    order by id limit ${limit}`;
}
