import type { Transaction } from '@tradepost/postgres';
import type { OrderStatus, orderTransitions } from '../orders/order-status.ts';
import type { Actor, CancelledOrder } from '../orders/order-store.ts';

export type OrderMove = { order_id: number; to: OrderStatus; trigger: keyof typeof orderTransitions };

/** Moves orders that are in one of the states `from`, and returns them in the order of their ids. Each order occurs once in `moves`. */
export async function updateOrderStatuses(
  tx: Transaction,
  moves: readonly OrderMove[],
  from: readonly OrderStatus[],
  { actor, now }: { actor: Actor; now: Date },
): Promise<CancelledOrder[]> {
  return tx<CancelledOrder[]>`
    with locked as materialized (
      select o.id, o.status, m.to_status, m.trigger from orders.orders o
      join unnest(${moves.map((m) => m.order_id)}::bigint[], ${moves.map((m) => m.to)}::smallint[],
                  ${moves.map((m) => m.trigger)}::text[]) as m (order_id, to_status, trigger) on o.id = m.order_id
      where o.status = any(${[...from]}::smallint[]) order by o.id for no key update of o
    ), moved as (
      update orders.orders o set status = locked.to_status, updated_at = ${now}
      from locked where o.id = locked.id
      returning o.id, o.order_no, o.user_id, o.total_amount, o.price_steps, locked.status as was, locked.to_status,
        locked.trigger
    ), history as (
      insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type, actor_id, created_at)
      select id, was, to_status, trigger, ${actor.type}, ${actor.id}, ${now} from moved
    )
    select id, order_no, user_id, total_amount, price_steps from moved order by id`;
}
