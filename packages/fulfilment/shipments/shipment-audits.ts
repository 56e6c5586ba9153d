import type { Audit } from '@tradepost/runtime';

export const shipmentAudits: readonly Audit[] = [
  {
    name: 'fulfilment.first_shipment',
    about:
      'a shipped order has exactly one first shipment, with its tracking number; an order that was not shipped has no first shipment',
    // 1 pending payment, 2 paid, 3 shipped, 4 completed, 6 cancelled. An order in 5, after-sale, may have a shipment or not.
    query: (sql) => sql`
      select o.id as order_id, o.order_no, o.status, o.tracking_no, coalesce(s.shipments, 0) as shipments, s.numbers
      from orders.orders o
      left join (select order_id, count(*) as shipments, string_agg(tracking_no, ', ' order by id) as numbers
                 from fulfilment.shipments where biz_type = 'initial' group by order_id) as s on s.order_id = o.id
      where (o.status in (3, 4) and (coalesce(s.shipments, 0) <> 1 or s.numbers <> o.tracking_no))
         or (o.status in (1, 2, 6) and s.shipments > 0)`,
  },
  {
    name: 'fulfilment.shipment_orphans',
    about: 'every shipment belongs to an order',
    query: (sql) => sql`
      select s.id as shipment_id, s.order_id, s.tracking_no from fulfilment.shipments s
      left join orders.orders o on o.id = s.order_id where o.id is null`,
  },
];
