import type { Queryable } from '@tradepost/postgres';
import type { Audit } from '@tradepost/runtime';
import { orderStatus, orderTransitions } from '../orders/order-status.ts';
import { isOwn, sweepGrace, wasPaid } from './audit-conditions.ts';
import { cancelledAudits, paymentAudits } from './payment-audits.ts';

/** The inventory status that an order in this state must have. A return adds stock and leaves the sale as it is. */
const stockOf = (sql: Queryable) =>
  sql`case when o.status = 1 then 'reserved' when ${wasPaid(sql)} then 'confirmed' else 'released' end`;

/** All transitions that `orderTransitions` allows, and those of imports. The creation is a transition from 0. */
const legalMoves = [
  { trigger: 'create', from: 0, to: orderStatus.pendingPayment },
  { trigger: 'import', from: orderStatus.paid, to: orderStatus.completed },
  { trigger: 'import', from: orderStatus.paid, to: orderStatus.cancelled },
  { trigger: 'import', from: orderStatus.pendingPayment, to: orderStatus.cancelled },
  ...Object.entries(orderTransitions).flatMap(([trigger, move]) =>
    move.from.flatMap((from) => [move.to].flat().map((to) => ({ trigger, from, to }))),
  ),
];

const lineAudits: readonly Audit[] = [
  {
    name: 'orders.amounts',
    about:
      'goods, discount and freight of an order add up to its total, and its lines add up to the goods and the total',
    query: (sql) => sql`
      select o.id as order_id, o.order_no, o.goods_amount, o.discount_amount, o.freight_amount, o.total_amount,
             l.goods as goods_of_lines, l.payable as payable_of_lines
      from orders.orders o
      join (select order_id, sum(price * qty)::bigint as goods, sum(payable_amount)::bigint as payable,
                   bool_or(payable_amount > price * qty) as above_gross
            from orders.order_items group by order_id) as l on l.order_id = o.id
      where l.goods <> o.goods_amount or l.payable <> o.total_amount
         or o.total_amount <> o.goods_amount - o.discount_amount + o.freight_amount
         or (l.above_gross and o.freight_amount = 0)`,
  },
  {
    name: 'orders.discounts',
    about: 'the parts of the discount of an order add up to it, and those of its lines to what the lines cost less',
    query: (sql) => sql`
      with part as materialized (
        select o.id as order_id, o.discount_amount, coalesce(sum((d ->> 'amount')::bigint), 0)::bigint as explained
        from orders.orders o left join lateral jsonb_array_elements(o.discounts) as d on true
        where (o.discounts is not null or o.discount_amount > 0) and ${isOwn(sql)}
        group by o.id
      ), line as (
        select i.order_id, i.id, i.price * i.qty - i.payable_amount as less,
               coalesce(sum((d ->> 'amount')::bigint), 0)::bigint as explained
        from part p join orders.order_items i using (order_id) left join lateral jsonb_array_elements(i.discounts) as d on true
        group by i.id
      )
      select order_id, null::bigint as order_item_id, discount_amount as discount, explained from part where explained <> discount_amount
      union all
      select l.order_id, l.id, l.less, l.explained from line l join orders.orders o on o.id = l.order_id
      where l.explained <> l.less and o.freight_amount = 0`,
  },
  {
    name: 'orders.without_lines',
    about: 'every order has lines',
    query: (sql) => sql`
      select o.id as order_id, o.order_no, o.status from orders.orders o
      where not exists (select from orders.order_items i where i.order_id = o.id)`,
  },
  {
    name: 'orders.line_orphans',
    about: 'every line belongs to an order',
    query: (sql) => sql`
      select i.id as order_item_id, i.order_id, i.sku_id, i.qty from orders.order_items i
      where not exists (select from orders.orders o where o.id = i.order_id)`,
  },
  {
    name: 'orders.lines_reserved',
    about: 'the lines of an order and its reservations have the same quantities of the same SKUs',
    query: (sql) => sql`
      select order_id, sku_id, sum(ordered)::bigint as ordered, sum(reserved)::bigint as reserved,
             max(biz_no) filter (where order_id is null) as of_no_order
      -- one aggregate over both tables: a join would hash them by the text of the order number
      from (select order_id, sku_id, qty as ordered, 0 as reserved, null as biz_no from orders.order_items o_i
            where not exists (select from orders.imported_orders m where m.order_id = o_i.order_id)
            union all
            select o.id, r.sku_id, 0, r.qty, r.biz_no
            from inventory.inventory_reservation r left join orders.orders o on o.order_no = r.biz_no
            where r.biz_type = 'order') as both_sides
      group by order_id, sku_id having sum(ordered) <> sum(reserved)`,
  },
];

const historyAudits: readonly Audit[] = [
  {
    name: 'orders.history_end',
    about: 'the last transition in the history of an order ends in its status',
    query: (sql) => sql`
      select o.id as order_id, o.order_no, o.status, h.last as last_move
      from orders.orders o
      -- the status of the newest row is the last digit of a number: sorting the whole history takes three times as long
      left join (select order_id, max(id * 10 + to_status) % 10 as last from orders.order_history group by order_id) as h
        on h.order_id = o.id
      where h.last is distinct from o.status`,
  },
  {
    name: 'orders.history_chain',
    about:
      'the history of an order begins with its creation, and each transition starts from the status of the one before',
    query: (sql) => sql`
      select order_id, id as history_id, before as ended_at, from_status, to_status, trigger
      from (select order_id, id, from_status, to_status, trigger,
                   lag(to_status) over (partition by order_id order by id) as before
            from orders.order_history) as step
      where from_status is distinct from before`,
  },
  {
    name: 'orders.history_moves',
    about: 'every transition in the history is allowed by the table of transitions',
    query: (sql) => sql`
      select h.order_id, h.id as history_id, h.from_status, h.to_status, h.trigger
      from orders.order_history h
      left join unnest(${legalMoves.map((m) => m.trigger)}::text[], ${legalMoves.map((m) => m.from)}::smallint[],
                       ${legalMoves.map((m) => m.to)}::smallint[]) as legal (trigger, from_status, to_status)
        on legal.trigger = h.trigger and legal.from_status = coalesce(h.from_status, 0)
          and legal.to_status = h.to_status
      where legal.trigger is null`,
  },
  {
    name: 'orders.history_orphans',
    about: 'every history belongs to an order',
    query: (sql) => sql`
      select h.order_id, h.id as history_id, h.from_status, h.to_status from orders.order_history h
      where not exists (select from orders.orders o where o.id = h.order_id)`,
  },
];

const stateAudits = (remoteProviders: readonly string[]): readonly Audit[] => [
  {
    name: 'orders.paid_at',
    about: 'paid orders have a time of payment, other orders do not',
    query: (sql) => sql`
      select o.id as order_id, o.order_no, o.status, o.paid_at from orders.orders o
      where ${wasPaid(sql)} <> (o.paid_at is not null)`,
  },
  {
    name: 'orders.stock_state',
    about: 'the status of an order, its inventory status and its state in inventory agree',
    query: (sql) => sql`
      select o.id as order_id, o.order_no, o.status, o.inventory_status, s.status as inventory_state, s.provider
      from orders.orders o left join inventory.order_inventory_state s on s.order_no = o.order_no
      where (s.status is distinct from o.inventory_status
         -- the answer of a remote provider may still be expected
         or (s.provider <> all(${[...remoteProviders]}::text[]) and o.inventory_status <> ${stockOf(sql)}))
        and ${isOwn(sql)}`,
  },
  {
    name: 'orders.reservations',
    about: 'the stock of an unpaid order is reserved, of a paid order confirmed, of a cancelled order released',
    query: (sql) => sql`
      select o.id as order_id, o.order_no, o.status, r.sku_id, r.qty, r.status as reservation
      from inventory.inventory_reservation r join orders.orders o on o.order_no = r.biz_no
      where r.biz_type = 'order' and r.status <> ${stockOf(sql)}
        -- an external warehouse refused the reservation: it is released in every state of the order
        and not (r.status = 'released' and exists (
          select from inventory.inventory_integration_tasks t
          where t.biz_type = 'order' and t.biz_no = r.biz_no and t.action = 'reserve' and t.status = 'failed'))`,
  },
];

const importAudits: readonly Audit[] = [
  {
    name: 'orders.imported',
    about:
      'an order that its import has moved is a finished order of an older shop: it has its shopper as the file names it, and no stock, payment or refund',
    query: (sql) => sql`
      select coalesce(o.id, m.order_id) as order_id, o.order_no, o.status, o.inventory_status, m.order_id is not null as imported
      from orders.imported_orders m
      full join (select o.id, o.order_no, o.status, o.inventory_status,
                        o.id in (select order_id from orders.order_history where trigger = 'import') as moved
                 from orders.orders o) as o on o.id = m.order_id
      where (m.order_id is not null) <> coalesce(o.moved, false)
         or (m.order_id is not null
             and (o.status not in (4, 6) -- completed, cancelled
                  or o.inventory_status <> 'none'
                  or exists (select from inventory.order_inventory_state s where s.order_no = o.order_no)
                  or exists (select from orders.payments p where p.order_id = o.id)
                  or exists (select from orders.refunds r where r.order_id = o.id)))`,
  },
];

const expiryAudits: readonly Audit[] = [
  {
    name: 'orders.expired',
    pendingWork: true,
    about: `no order is unpaid ${sweepGrace} after its expiry; a violation means that the sweep does not run or cannot cancel it`,
    query: (sql, now) => sql`
      select id as order_id, order_no, user_id, expires_at from orders.orders
      where status = 1 -- pending payment
        and expires_at < ${now} - ${sweepGrace}::interval`,
  },
];

const countAudits: readonly Audit[] = [
  {
    name: 'orders.counts',
    about: 'the stored counts of orders, which the back office shows as totals, equal the number of orders',
    query: (sql) => sql`
      select block, status, payment_method, kept.orders as kept, coalesce(counted.orders, 0) as counted
      from (select block, status, payment_method, sum(orders)::bigint as orders
            from (select block, status, payment_method, orders from orders.order_blocks
                  union all select block, status, payment_method, change from orders.order_changes) as both_parts
            group by block, status, payment_method) as kept
      full join (select id >> 12 as block, status, payment_method, count(*) as orders
                 from orders.orders group by 1, 2, 3) as counted using (block, status, payment_method)
      where coalesce(kept.orders, 0) <> coalesce(counted.orders, 0)`,
  },
];

/** `remoteProviders`: the names of the inventory providers whose stock is in an external warehouse. */
export const orderAudits = (remoteProviders: readonly string[]): readonly Audit[] => [
  ...lineAudits,
  ...historyAudits,
  ...stateAudits(remoteProviders),
  ...cancelledAudits,
  ...paymentAudits,
  ...importAudits,
  ...expiryAudits,
  ...countAudits,
];
