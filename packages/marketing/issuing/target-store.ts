import type { MemberLevels } from '@tradepost/module';
import type { Queryable } from '@tradepost/postgres';

/** The owner of memberships. Undefined when no module has them: then no shopper is a member. */
export type FindLevels = () => MemberLevels | undefined;

/** The shoppers among these who have paid an order, also when it was refunded later. */
export async function selectBuyers(sql: Queryable, userIds: readonly number[]): Promise<Set<number>> {
  const rows = await sql<{ user_id: number }[]>`
    select u.user_id from unnest(${[...userIds]}::bigint[]) as u (user_id)
    where exists (select from orders.order_facts o where o.user_id = u.user_id and o.paid_at is not null)`;
  return new Set(rows.map(({ user_id }) => user_id));
}
