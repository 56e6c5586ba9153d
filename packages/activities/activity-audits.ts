import type { Audit } from '@tradepost/runtime';

export const activityAudits: readonly Audit[] = [
  {
    name: 'activities.sold_qty',
    about: 'the sold quantity of an activity product is what orders have taken and not returned',
    query: (sql) => sql`
      select activity_product_id, r.sold_qty, u.qty as taken
      from (select id as activity_product_id, sold_qty from activities.activity_products) as r
      full join (select activity_product_id, sum(qty - returned_qty) as qty from activities.order_uses group by 1) as u
        using (activity_product_id)
      where r.sold_qty is distinct from coalesce(u.qty, 0)`,
  },
  {
    name: 'activities.caps',
    about: 'no activity product has sold more than its total limit',
    query: (sql) => sql`
      select id as activity_product_id, sold_qty, total_stock_limit from activities.activity_products
      where sold_qty < 0 or (total_stock_limit > 0 and sold_qty > total_stock_limit)`,
  },
  {
    name: 'activities.order_uses',
    about: 'an order has taken of each activity product what its lines have',
    query: (sql) => sql`
      select order_id, activity_product_id, u.qty as taken, i.qty as in_lines
      from activities.order_uses u
      full join (
        select order_id, activity_product_id, sum(qty) as qty from orders.order_items where activity_product_id > 0 group by 1, 2
      ) as i using (order_id, activity_product_id)
      where u.qty is distinct from i.qty`,
  },
  {
    name: 'activities.returned',
    about: 'a cancelled order has returned all that it took, and other orders only what after-sale cases returned',
    query: (sql) => sql`
      select u.order_id, u.activity_product_id, o.status, u.qty, u.returned_qty, coalesce(c.qty, 0) as returned
      from activities.order_uses u
      left join orders.orders o on o.id = u.order_id
      left join (select order_id, activity_product_id, sum(qty) as qty from activities.case_returns group by 1, 2) as c
        using (order_id, activity_product_id)
      where case when o.status = 6 then u.returned_qty < u.qty else u.returned_qty <> coalesce(c.qty, 0) end
        -- A refund that is not dispatched yet will return.
        and not (o.status = 6 and exists (
          select from runtime.outbox e
          where e.subject = 'order:' || u.order_id and e.dispatched_at is null and e.failed_at is null))`,
  },
];
