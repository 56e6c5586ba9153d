import type { Audit } from '@tradepost/runtime';

export const shipmentAudits: readonly Audit[] = [
  {
    name: 'fulfilment.first_shipment',
    about: 'an order that was shipped has exactly one first shipment; an order that was not shipped has none',
    // 3 shipped, 4 completed. In 5, after-sale, and 6, cancelled, the history says whether the order was shipped.
    query: (sql) => sql`
      select o.id as order_id, o.order_no, o.status, coalesce(s.shipments, 0) as shipments
      from orders.orders o
      left join (select order_id, count(*) as shipments from fulfilment.shipments where biz_type = 'initial' group by order_id)
        as s on s.order_id = o.id
      where coalesce(s.shipments, 0) <>
        case when o.status in (3, 4)
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
      where o.tracking_no <> coalesce(s.tracking_no, '')`,
  },
  {
    name: 'fulfilment.shipment_orphans',
    about: 'every shipment belongs to an order',
    query: (sql) => sql`
      select s.id as shipment_id, s.order_id, s.tracking_no from fulfilment.shipments s
      left join orders.orders o on o.id = s.order_id where o.id is null`,
  },
];
