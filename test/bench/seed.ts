import type { Tokens } from '@tradepost/identity';
import type { Sql } from '@tradepost/postgres';
import type { Buyer } from './scenarios.ts';

/** Creates shoppers with one address each and a valid token. */
export async function seedBuyers(sql: Sql, tokens: Tokens, count: number): Promise<Buyer[]> {
  const rows = await sql<{ id: number; address_id: number }[]>`
    with made as (
      insert into identity.shoppers (username, nickname)
      select 'bench' || n, 'Bench ' || n from generate_series(1, ${count}) as n returning id
    ), housed as (
      insert into identity.addresses (user_id, name, phone, province, city, district, detail, is_default)
      select id, 'Ann', '13800000000', 'Zhejiang', 'Hangzhou', 'Xihu', '12 Lakeside Road', true from made
      returning id, user_id
    )
    select user_id as id, id as address_id from housed order by user_id`;
  return Promise.all(
    rows.map(async ({ id, address_id }) => ({
      address_id,
      token: await tokens.issue({ role: 'user', id, perms: [] }),
    })),
  );
}

/** Creates products with two SKUs and three pictures each. Returns the SKU ids. */
export async function seedSkus(sql: Sql, products: number, stock: number): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    with made as (
      insert into catalog.products (title, subtitle, cover, price, origin_price, detail, spec_schema, translations)
      select 'Enamel mug ' || n, 'Holds ' || n || ' ml', '/uploads/mug-' || n || '.svg', 1000 + n, 1500 + n,
        '{"version": 1, "blocks": [{"type": "text", "text": "Dishwasher safe."}]}',
        '[{"name": "Size", "values": ["S", "L"]}]', '{"zh-CN": {"title": "搪瓷杯", "specs": {"Size": "尺寸"}}}'
      from generate_series(1, ${products}) as n returning id, price
    ), pictured as (
      insert into catalog.product_images (product_id, url, sort)
      select id, '/uploads/' || id || '-' || n || '.svg', n from made, generate_series(1, 3) as n
    )
    insert into catalog.product_skus (product_id, sku_key, attrs, price, stock)
    select id, 'Size:' || size, jsonb_build_array(jsonb_build_object('name', 'Size', 'value', size)), price, ${stock}
    from made, unnest('{S,L}'::text[]) as size
    returning id`;
  return rows.map((row) => row.id);
}

/** Resets the shop to a state without orders, physically equal each time. */
export async function resetOrders(sql: Sql, stock: number): Promise<void> {
  await sql`
    truncate orders.orders, orders.order_items, orders.order_history, orders.payments, orders.refunds, orders.cart_lines,
      orders.order_blocks, orders.order_changes,
      inventory.inventory_reservation, inventory.order_inventory_state, fulfilment.shipments`;
  await sql`update catalog.product_skus set stock = ${stock}, reserved_stock = 0, sold = 0`;
  // Truncated tables are not analyzed. For a table known to be empty PostgreSQL plans a scan, and checks of foreign keys would
  // keep that plan. A truncated table counts as new, as in a new shop.
  await sql`vacuum analyze catalog.product_skus, catalog.products, identity.shoppers, identity.addresses`;
  await sql`checkpoint`;
}

/** Counts orders and pieces in the tables. Throws when orders, reservations and stock disagree. */
export async function countOrders(sql: Sql, stock: number): Promise<{ unpaid: number; paid: number }> {
  const [row] = await sql<Record<string, number>[]>`
    select (select count(*) from orders.orders where status = 1)::int as unpaid,
      (select count(*) from orders.orders where status = 2)::int as paid,
      (select count(*) from orders.payments)::int as payments,
      (select coalesce(sum(i.qty), 0) from orders.order_items i join orders.orders o on o.id = i.order_id
        where o.status = 1)::int as held_by_orders,
      (select coalesce(sum(i.qty), 0) from orders.order_items i join orders.orders o on o.id = i.order_id
        where o.status = 2)::int as sold_by_orders,
      (select coalesce(sum(qty), 0) from inventory.inventory_reservation where status = 'reserved')::int as held,
      (select sum(reserved_stock) from catalog.product_skus)::int as reserved_stock,
      (select sum(sold) from catalog.product_skus)::int as sold,
      (select sum(${stock} - stock) from catalog.product_skus)::int as gone`;
  const { unpaid, paid, payments, held_by_orders, sold_by_orders, held, reserved_stock, sold, gone } = row!;
  const agree =
    payments === paid &&
    [held, reserved_stock].every((n) => n === held_by_orders) &&
    [sold, gone].every((n) => n === sold_by_orders);
  if (!agree) throw new Error(`orders, reservations and stock do not agree: ${JSON.stringify(row)}`);
  return { unpaid: unpaid!, paid: paid! };
}
