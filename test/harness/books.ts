import type { Sql } from '@tradepost/runtime';

/** What must hold in the database whatever happened; answers the rows that break it, one line each. */
export async function brokenBooks(sql: Sql): Promise<string[]> {
  const faults: string[] = [];
  const check = async (what: string, rows: Promise<readonly Record<string, unknown>[]>) => {
    for (const row of await rows) faults.push(`${what}: ${JSON.stringify(row)}`);
  };
  await check(
    'reserved stock differs from the open reservations',
    sql`
      select s.id, s.reserved_stock, coalesce(sum(r.qty), 0)::int as open
      from catalog.product_skus s
      left join inventory.inventory_reservation r on r.sku_id = s.id and r.status = 'reserved'
      group by s.id having s.reserved_stock <> coalesce(sum(r.qty), 0)`,
  );
  await check(
    'pieces sold differ from the confirmed reservations',
    sql`
      select s.id, s.sold, coalesce(sum(r.qty), 0)::int as confirmed
      from catalog.product_skus s
      left join inventory.inventory_reservation r on r.sku_id = s.id and r.status = 'confirmed'
      group by s.id having s.sold <> coalesce(sum(r.qty), 0)`,
  );
  await check(
    'order lines differ from the reservations',
    sql`
      select coalesce(l.order_no, r.biz_no) as order_no, coalesce(l.sku_id, r.sku_id) as sku_id, l.qty, r.qty as held
      from (select o.order_no, i.sku_id, sum(i.qty) as qty
            from orders.orders o join orders.order_items i on i.order_id = o.id group by 1, 2) l
      full join inventory.inventory_reservation r on r.biz_no = l.order_no and r.sku_id = l.sku_id
      where l.qty is distinct from r.qty`,
  );
  await check(
    'amounts do not add up',
    sql`
      select o.id, o.goods_amount, o.total_amount from orders.orders o join orders.order_items i on i.order_id = o.id
      group by o.id having sum(i.price * i.qty) <> o.goods_amount or sum(i.payable_amount) <> o.total_amount`,
  );
  await check(
    'order without lines',
    sql`select id from orders.orders o where not exists (select from orders.order_items where order_id = o.id)`,
  );
  await check(
    'status, stock and payment of an order disagree',
    sql`
      select o.id, o.status, o.inventory_status, s.status as state,
             (select array_agg(distinct r.status) from inventory.inventory_reservation r where r.biz_no = o.order_no) as held,
             (select count(*)::int from orders.payments p where p.order_id = o.id) as payments
      from orders.orders o left join inventory.order_inventory_state s on s.order_no = o.order_no
      where s.status is distinct from o.inventory_status
         or (o.status in (2, 3)) <> (o.paid_at is not null)
         or (select count(*) from orders.payments p where p.order_id = o.id and p.amount = o.total_amount)
            <> (case when o.status in (2, 3) then 1 else 0 end)
         or (select array_agg(distinct r.status) from inventory.inventory_reservation r where r.biz_no = o.order_no)
            <> array[case o.status when 1 then 'reserved' when 6 then 'released' else 'confirmed' end]`,
  );
  await check(
    'history does not lead to the status',
    sql`
      select o.id, o.status, array_agg(h.to_status order by h.id) as moves
      from orders.orders o left join orders.order_history h on h.order_id = o.id
      group by o.id
      having (array_agg(h.to_status order by h.id desc))[1] is distinct from o.status
          or (array_agg(h.to_status order by h.id))[1] is distinct from 1
          or bool_or(h.from_status is not distinct from h.to_status)`,
  );
  return faults;
}
