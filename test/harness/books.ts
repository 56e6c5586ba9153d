import type { TestDatabase } from './database.ts';

/**
 * What must hold in the tables after anything that customers or staff did, as SQL that finds the exceptions.
 * Holds for products whose stock only orders moved since they were inserted.
 */
const invariants: Record<string, string> = {
  'reserved_stock is what open reservations hold': `
    select s.id, s.reserved_stock, coalesce(sum(r.qty), 0) as held
    from catalog.product_skus s
    left join inventory.inventory_reservation r on r.sku_id = s.id and r.status = 'reserved'
    group by s.id having s.reserved_stock <> coalesce(sum(r.qty), 0)`,
  'sold is what was confirmed': `
    select s.id, s.sold, coalesce(sum(r.qty), 0) as confirmed
    from catalog.product_skus s
    left join inventory.inventory_reservation r on r.sku_id = s.id and r.status = 'confirmed'
    group by s.id having s.sold <> coalesce(sum(r.qty), 0)`,
  'no SKU is oversold': `select id from catalog.product_skus where stock < 0 or reserved_stock < 0 or reserved_stock > stock`,
  'reservations of an order are its lines': `
    select o.order_no, i.sku_id, i.qty, r.qty as reserved
    from orders.orders o
    join (select order_id, sku_id, sum(qty) as qty from orders.order_items group by order_id, sku_id) i on i.order_id = o.id
    full join inventory.inventory_reservation r
      on r.biz_type = 'order' and r.biz_no = o.order_no and r.sku_id = i.sku_id
    where i.qty is distinct from r.qty`,
  'order, its stock state and its reservations say the same': `
    select o.id, o.status, o.inventory_status, s.status as state, r.status as reservation
    from orders.orders o
    left join inventory.order_inventory_state s on s.order_no = o.order_no
    left join inventory.inventory_reservation r on r.biz_no = o.order_no
    where o.inventory_status is distinct from s.status or o.inventory_status is distinct from r.status
       or o.inventory_status <> case o.status when 1 then 'reserved' when 6 then 'released' else 'confirmed' end`,
  'lines add up to the order': `
    select o.id, o.goods_amount, o.total_amount
    from orders.orders o left join orders.order_items i on i.order_id = o.id
    group by o.id
    having o.goods_amount is distinct from sum(i.price * i.qty)
        or o.goods_amount - o.discount_amount is distinct from sum(i.payable_amount)`,
  'history begins with create, has no gaps and ends where the order is': `
    select o.id, o.status, h.moves
    from orders.orders o
    left join lateral (
      select array_agg(to_status order by id) as moves,
             bool_and(from_status is not distinct from before) as chained, count(*) as n
      from (select *, lag(to_status) over (order by id) as before
            from orders.order_history where order_id = o.id) as steps) h on true
    where h.n = 0 or not h.chained or h.moves[1] <> 1 or h.moves[array_length(h.moves, 1)] <> o.status`,
  'a paid order has one payment of its amount, an unpaid one none': `
    select o.id, o.status, count(p.id) as payments, sum(p.amount) as amount
    from orders.orders o left join orders.payments p on p.order_id = o.id
    group by o.id
    having case when o.status in (1, 6) then count(p.id) <> 0 or o.paid_at is not null
                else count(p.id) <> 1 or sum(p.amount) <> o.total_amount or o.paid_at is null end`,
  'a shipped order has one first shipment with its waybill number': `
    select o.id, o.status, o.tracking_no, count(s.id) as shipments
    from orders.orders o
    left join fulfilment.shipments s on s.order_id = o.id and s.biz_type = 'initial' and s.tracking_no = o.tracking_no
    group by o.id having count(s.id) <> case when o.status in (3, 4) then 1 else 0 end`,
  'a shopper with addresses has one default': `
    select user_id from identity.addresses group by user_id having count(*) filter (where is_default) <> 1`,
};

/** The invariants that do not hold, with up to five rows of evidence each; empty when the books are right. */
export async function bookErrors(database: TestDatabase): Promise<Record<string, unknown>> {
  const broken: Record<string, unknown> = {};
  for (const [name, query] of Object.entries(invariants)) {
    const rows = await database.sql.unsafe(query);
    if (rows.length > 0) broken[name] = [...rows.slice(0, 5)];
  }
  return broken;
}
