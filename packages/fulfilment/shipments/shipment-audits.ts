import type { Queryable } from '@tradepost/postgres';
import type { Audit } from '@tradepost/runtime';

/** The shipments of an older shop are not imported. */
const isOwn = (sql: Queryable) => sql`not exists (select from orders.imported_orders m where m.order_id = o.id)`;

export const shipmentAudits: readonly Audit[] = [
  {
    name: 'fulfilment.first_shipment',
    about:
      'an order that was shipped has exactly one first shipment; an order that was not shipped, or was imported, has none',
    // 3 shipped, 4 completed. In 5, after-sale, and 6, cancelled, the history says whether the order was shipped.
    query: (sql) => sql`
      select o.id as order_id, o.order_no, o.status, coalesce(s.shipments, 0) as shipments
      from orders.orders o
      left join (select order_id, count(*) as shipments from fulfilment.shipments where biz_type = 'initial' group by order_id)
        as s on s.order_id = o.id
      where coalesce(s.shipments, 0) <>
        case when (o.status in (3, 4) and ${isOwn(sql)})
          or exists (select from orders.order_history h where h.order_id = o.id and h.trigger = 'ship') then 1 else 0 end`,
  },
  {
    name: 'fulfilment.tracking_number',
    about: 'the tracking number of an order is that of its latest outbound shipment with a number',
    query: (sql) => sql`
      select o.id as order_id, o.order_no, o.tracking_no, s.tracking_no as shipment_tracking_no
      from orders.orders o
      left join (select distinct on (order_id) order_id, tracking_no from fulfilment.shipments
                 where direction = 'outbound' and tracking_no <> '' order by order_id, id desc) as s on s.order_id = o.id
      where o.tracking_no <> coalesce(s.tracking_no, '') and ${isOwn(sql)}`,
  },
  {
    name: 'fulfilment.shipment_orphans',
    about: 'every shipment belongs to an order',
    query: (sql) => sql`
      select s.id as shipment_id, s.order_id, s.tracking_no from fulfilment.shipments s
      left join orders.orders o on o.id = s.order_id where o.id is null`,
  },
  {
    name: 'fulfilment.case_shipments',
    about:
      'a case has one return shipment exactly when its goods were sent back, and one re-shipment exactly when they were replaced; each belongs to the order of the case',
    query: (sql) => sql`
      select c.id as case_id, c.case_no, c.order_id, kind.biz_type, coalesce(l.entries, 0) as log_entries,
        coalesce(s.shipments, 0) as shipments
      from fulfilment.after_sale_cases c
      cross join (values ('return', 'return_ship'), ('reship', 'reship')) as kind (biz_type, action)
      left join (select case_id, action, count(*) as entries from fulfilment.after_sale_logs group by case_id, action)
        as l on l.case_id = c.id and l.action = kind.action
      left join (select after_sale_case_id, order_id, biz_type, count(*) as shipments from fulfilment.shipments
                 where after_sale_case_id > 0 group by after_sale_case_id, order_id, biz_type) as s
        on s.after_sale_case_id = c.id and s.order_id = c.order_id and s.biz_type = kind.biz_type
      where coalesce(l.entries, 0) <> coalesce(s.shipments, 0)`,
  },
];
