import type { Queryable } from '@tradepost/postgres';
import type { Audit } from '@tradepost/runtime';
import { caseMoves, caseTypes, endedStatuses, type MoveName, moveOf } from './cases/case-moves.ts';

const isEnded = (sql: Queryable) => sql`(c.status = any(${[...endedStatuses]}::text[]))`;
/** A return in one of these states was refunded. */
const isRefunded = (sql: Queryable) => sql`(c.case_type = 'return' and c.status in ('refunded', 'completed'))`;

/** All entries that the table of transitions allows in a log. */
const legalEntries = caseTypes.flatMap((type) => [
  { type, action: 'apply', from: '', to: 'applied' },
  ...(Object.keys(caseMoves) as MoveName[]).flatMap((name) => {
    const { action, from, to } = moveOf(name);
    return from.map((status) => ({ type, action, from: status, to: to[type] }));
  }),
]);

const caseAudits: readonly Audit[] = [
  {
    name: 'fulfilment.after_sale_orders',
    about: 'an order is in after-sale exactly while it has an open case',
    query: (sql) => sql`
      select o.id as order_id, o.order_no, o.status, coalesce(c.open, 0) as open_cases
      from orders.orders o
      left join (select c.order_id, count(*) as open from fulfilment.after_sale_cases c where not ${isEnded(sql)}
                 group by c.order_id) as c on c.order_id = o.id
      -- 5: after-sale
      where (o.status = 5) <> (coalesce(c.open, 0) > 0)`,
  },
  {
    name: 'fulfilment.case_orphans',
    about: 'every case belongs to an order of its buyer, and has lines of this order',
    query: (sql) => sql`
      select c.id as case_id, c.case_no, c.order_id, i.order_item_id
      from fulfilment.after_sale_cases c
      left join fulfilment.after_sale_items i on i.case_id = c.id
      left join orders.orders o on o.id = c.order_id and o.user_id = c.user_id
      left join orders.order_items l on l.id = i.order_item_id and l.order_id = c.order_id
      where o.id is null or l.id is null`,
  },
  {
    name: 'fulfilment.case_quantities',
    about: 'the pieces of a line that were refunded and those in an open case are at most the pieces that were bought',
    query: (sql) => sql`
      select l.id as order_item_id, l.order_id, l.qty as bought, u.refunded, u.open, u.most
      from (select i.order_item_id, max(i.qty) as most,
                   coalesce(sum(i.qty) filter (where ${isRefunded(sql)}), 0) as refunded,
                   coalesce(sum(i.qty) filter (where not ${isRefunded(sql)} and not ${isEnded(sql)}), 0) as open
            from fulfilment.after_sale_items i join fulfilment.after_sale_cases c on c.id = i.case_id
            group by i.order_item_id) as u
      join orders.order_items l on l.id = u.order_item_id
      where u.most > l.qty or u.refunded + u.open > l.qty`,
  },
  {
    name: 'fulfilment.case_lines',
    about: 'the lines of a case are open exactly while the case is open',
    query: (sql) => sql`
      select c.id as case_id, c.case_no, c.status, i.order_item_id, i.is_open
      from fulfilment.after_sale_cases c join fulfilment.after_sale_items i on i.case_id = c.id
      where i.is_open = ${isEnded(sql)}`,
  },
  {
    name: 'fulfilment.case_refunds',
    about: 'a refunded case has one refund of its amount and number; other cases have no refund',
    query: (sql) => sql`
      select c.id as case_id, c.case_no, c.status, c.refund_amount, c.refund_no, r.amount, r.refund_no as paid_back_as, r.reason
      from fulfilment.after_sale_cases c
      full join (select reason, refund_no, order_id, amount from orders.refunds where reason like 'after_sale:%') as r
        on r.reason = 'after_sale:' || c.id
      where case when c.id is null then true
                 when ${isRefunded(sql)} and c.refund_amount > 0
                 then r.amount is distinct from c.refund_amount or r.refund_no <> c.refund_no or r.order_id <> c.order_id
                 else r.reason is not null end`,
  },
  {
    name: 'fulfilment.case_restocked',
    about:
      'the goods that came back into stock for a case are at most the goods of the case, and only after they were received',
    query: (sql) => sql`
      select r.biz_no as case_no, r.sku_id, r.qty as restocked, coalesce(g.qty, 0) as received
      from inventory.restored_stock r
      left join (
        select c.case_no, l.sku_id, sum(i.qty) as qty
        from fulfilment.after_sale_cases c
        join (select distinct case_id from fulfilment.after_sale_logs where action = 'receive') as arrived on arrived.case_id = c.id
        join fulfilment.after_sale_items i on i.case_id = c.id
        join orders.order_items l on l.id = i.order_item_id
        group by c.case_no, l.sku_id) as g on g.case_no = r.biz_no and g.sku_id = r.sku_id
      where r.qty > coalesce(g.qty, 0)
        -- the goods of a cancelled order: see orders.cancelled_restocked
        and not exists (select from orders.orders o where o.order_no = r.biz_no)`,
  },
  {
    name: 'fulfilment.order_restocked',
    about:
      'the goods of an order that came back into stock are at most those that were bought and those that replaced them',
    query: (sql) => sql`
      select r.order_id, r.sku_id, r.qty as restocked, r.bought, r.replaced
      from (
        select c.order_id, s.sku_id, sum(s.qty) as qty,
          (select coalesce(sum(l.qty), 0) from orders.order_items l
           where l.order_id = c.order_id and l.sku_id = s.sku_id) as bought,
          (select coalesce(sum(i.qty), 0)
           from fulfilment.after_sale_cases e
           join fulfilment.after_sale_items i on i.case_id = e.id
           join orders.order_items l on l.id = i.order_item_id
           where e.order_id = c.order_id and l.sku_id = s.sku_id
             and e.case_type = 'exchange' and e.status in ('reshipped', 'completed')) as replaced
        from inventory.restored_stock s join fulfilment.after_sale_cases c on c.case_no = s.biz_no
        group by c.order_id, s.sku_id) as r
      where r.qty > r.bought + r.replaced`,
  },
];

const logAudits: readonly Audit[] = [
  {
    name: 'fulfilment.case_log_end',
    about: 'the last entry in the log of a case ends in its status',
    query: (sql) => sql`
      select c.id as case_id, c.case_no, c.status, l.last as last_entry
      from fulfilment.after_sale_cases c
      left join (select case_id, (array_agg(to_status order by id desc))[1] as last
                 from fulfilment.after_sale_logs group by case_id) as l on l.case_id = c.id
      where l.last is distinct from c.status`,
  },
  {
    name: 'fulfilment.case_log_chain',
    about: 'the log of a case begins with the application, and each entry starts from the status of the entry before',
    query: (sql) => sql`
      select case_id, id as log_id, before as ended_at, from_status, to_status, action
      from (select case_id, id, from_status, to_status, action,
                   lag(to_status, 1, '') over (partition by case_id order by id) as before
            from fulfilment.after_sale_logs) as step
      where from_status <> before`,
  },
  {
    name: 'fulfilment.case_log_moves',
    about: 'every entry in the log of a case is allowed by the table of transitions',
    query: (sql) => sql`
      select l.case_id, l.id as log_id, c.case_type, l.action, l.from_status, l.to_status
      from fulfilment.after_sale_logs l join fulfilment.after_sale_cases c on c.id = l.case_id
      left join unnest(${legalEntries.map((e) => e.type)}::text[], ${legalEntries.map((e) => e.action)}::text[],
                       ${legalEntries.map((e) => e.from)}::text[], ${legalEntries.map((e) => e.to)}::text[])
        as legal (case_type, action, from_status, to_status)
        on legal.case_type = c.case_type and legal.action = l.action and legal.from_status = l.from_status
          and legal.to_status = l.to_status
      where legal.action is null`,
  },
];

export const afterSaleAudits: readonly Audit[] = [...caseAudits, ...logAudits];
