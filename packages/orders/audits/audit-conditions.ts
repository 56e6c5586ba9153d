import type { Queryable } from '@tradepost/postgres';

/** Twice the interval of the crons that sweep orders and refunds. */
export const sweepGrace = '10 minutes';

/**
 * Whether an order was paid. A cancelled order (6) was paid when an after-sale refunded it, when its group failed, or when it was
 * paid before it was imported. 1 is pending payment, 2 paid.
 */
export const wasPaid = (sql: Queryable) => sql`
  case o.status when 1 then false
    when 6 then o.id in (select order_id from orders.order_history
                         where trigger in ('after_sale_refunded', 'group_failed') or (trigger = 'import' and from_status = 2))
    else true end`;

/** Whether order `o` belongs to this shop. Orders of an older shop have no stock and no payment: see `orders.imported`. */
export const isOwn = (sql: Queryable) => sql`not exists (select from orders.imported_orders m where m.order_id = o.id)`;
