import type { Sql, Transaction } from '@tradepost/postgres';

export type Scale = { orders: number; shoppers: number; products: number };
export type ScaleProgress = (line: string) => void;

const chunk = 50_000;
/** The newest orders are unpaid. They expire in a month, so they stay unpaid during a benchmark. */
const unpaidOf = (orders: number) => Math.min(2_000, Math.ceil(orders / 50));
const skusPerProduct = 2;

/** Adds shoppers without a password, each with an address. Returns the range of their ids. */
async function addShoppers(sql: Sql, count: number): Promise<{ first: number; count: number }> {
  const [row] = await sql<{ first: number }[]>`
    with numbers as (
      select n, (array['李','王','张','刘','陈','杨','赵','Ann ','Bo ','Eva ','Max '])[1 + n % 11]
             || (array['伟','芳','娜','敏','静','强','磊','洋','艳','勇','军','杰'])[1 + n / 11 % 12]
             || (array['','国','华','明','林'])[1 + n / 132 % 5] as name
      from generate_series(1, ${count}::int) as n
    ), shoppers as (
      insert into identity.shoppers (nickname, is_demo) select name || n, true from numbers order by n returning id
    ), numbered as (
      select id, row_number() over (order by id) as n from shoppers
    ), addresses as (
      insert into identity.addresses (user_id, name, phone, province, city, district, detail, is_default)
      select s.id, n.name, '1' || lpad((3000000000 + s.id)::text, 10, '0'),
             (array['浙江省','江苏省','广东省','上海市','北京市','四川省','湖北省','Zhejiang','福建省','山东省'])[1 + n.n % 10],
             'City ' || n.n % 50, 'District ' || n.n % 7, n.n || ' Lakeside Road', true
      from numbered s join numbers n using (n)
    )
    select min(id) as first from shoppers`;
  return { first: row!.first, count };
}

/** Adds products with two SKUs each. Returns the range of the SKU ids. */
async function addProducts(sql: Sql, count: number): Promise<{ first: number; count: number }> {
  const [row] = await sql<{ first: number }[]>`
    with products as (
      insert into catalog.products (title, subtitle, price, category_id, sort, translations)
      select (array['Enamel mug','Desk lamp','Wool scarf','Walnut tray','Linen shirt','Tea pot','Field notebook','Garden shears'])
               [1 + n % 8] || ' No. ' || n, '', 500 + n * 37 % 40000, 0, 0,
             jsonb_build_object('zh-CN', jsonb_build_object('title',
               (array['搪瓷杯','台灯','羊毛围巾','胡桃木托盘','亚麻衬衫','茶壶','笔记本','园艺剪刀'])[1 + n % 8] || ' ' || n || ' 号'))
      from generate_series(1, ${count}::int) as n order by n
      returning id, price
    ), skus as (
      insert into catalog.product_skus (product_id, sku_key, sku_code, attrs, price, stock)
      select p.id, 'Size:' || s, 'SC-' || p.id || '-' || s, jsonb_build_array(jsonb_build_object('name', 'Size', 'value', s)),
             p.price, 1000
      from products p cross join unnest(array['L', 'S']) as s order by p.id, s
      returning id
    )
    select min(id) as first from skus`;
  return { first: row!.first, count: count * skusPerProduct };
}

type Range = { first: number; count: number };

/**
 * Draws one chunk of orders into the temporary tables `new_orders` and `new_lines`. Order states: 1 pending payment,
 * 2 paid, 3 shipped, 6 cancelled.
 */
async function drawOrders(
  tx: Transaction,
  of: { from: number; count: number; total: number; shoppers: Range; skus: Range },
): Promise<void> {
  const { from, count, total, shoppers, skus } = of;
  // A fixed seed makes the same shop on every machine. Few shoppers place most orders, and few SKUs have most sales.
  await tx`select setseed(${(from % 1_000_003) / 1_000_003})`;
  await tx`
    create temp table new_orders on commit drop as
    select nextval('orders.orders_id_seq') as id, o.*, '' as order_no
    from (
      select n, ${shoppers.first}::bigint + floor(power(random(), 2) * ${shoppers.count})::bigint as user_id,
             now() - make_interval(secs => (${total}::float8 - n) * 365 * 86400 / ${total}) as created_at,
             case when n > ${total - unpaidOf(total)}::int then 1
                  when random() < 0.15 then 6 when random() < 0.15 then 2 else 3 end::smallint as status,
             case when random() < 0.3 then 'alipay' else 'wechat' end as payment_method,
             floor(power(random(), 3) * ${skus.count})::int as goods, 1 + floor(random() * 3)::int as lines,
             1 + floor(random() * 2)::int as qty
      from generate_series(${from}::int + 1, ${from + count}::int) as n
      order by n
    ) as o`;
  await tx`update new_orders set order_no = (extract(epoch from created_at) * 1000)::bigint || lpad((id % 1000000)::text, 6, '0')`;
  await tx`
    create temp table new_lines on commit drop as
    select o.id as order_id, o.order_no, o.user_id, o.status, o.qty, s.id as sku_id, s.product_id, s.price, s.attrs, p.title, l,
           o.created_at
    from new_orders o cross join lateral generate_series(0, o.lines - 1) as l
    join catalog.product_skus s on s.id = ${skus.first}::bigint + (o.goods + l * 7) % ${skus.count}
    join catalog.products p on p.id = s.product_id`;
}

/** Writes the drawn orders with history and payments, as if they had been placed, paid, shipped and cancelled. */
async function writeOrders(tx: Transaction): Promise<void> {
  await tx`
    insert into orders.orders (id, order_no, user_id, status, inventory_status, payment_method, goods_amount, total_amount,
      address_snapshot, province, tracking_no, expires_at, paid_at, created_at, updated_at)
    select o.id, o.order_no, o.user_id, o.status,
      case o.status when 1 then 'reserved' when 6 then 'released' else 'confirmed' end, o.payment_method, l.amount, l.amount,
      jsonb_build_object('id', a.id, 'user_id', a.user_id, 'name', a.name, 'phone', a.phone, 'province', a.province,
        'city', a.city, 'district', a.district, 'detail', a.detail, 'is_default', 1), a.province,
      case when o.status = 3 then 'SF' || o.id else '' end,
      case when o.status = 1 then now() + interval '30 days' else o.created_at + interval '15 minutes' end,
      case when o.status in (2, 3) then o.created_at + interval '1 minute' end, o.created_at, o.created_at
    from new_orders o
    join (select order_id, sum(price * qty) as amount from new_lines group by order_id) l on l.order_id = o.id
    join identity.addresses a on a.user_id = o.user_id and a.is_default
    order by o.id`;
  await tx`
    insert into orders.order_items (order_id, product_id, sku_id, title, attrs, price, qty, payable_amount)
    select order_id, product_id, sku_id, title, attrs, price, qty, price * qty from new_lines order by order_id, l`;
  await tx`
    insert into orders.sold_titles (product_id, title)
    select distinct product_id, title from new_lines order by 1, 2 on conflict do nothing`;
  await tx`
    insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type, actor_id, created_at)
    select o.id, m.was, m.becomes, m.trigger, m.actor, case m.actor when 'user' then o.user_id else 0 end,
           o.created_at + make_interval(mins => m.step)
    from new_orders o
    join (values (null::smallint, 1::smallint, 'create', 'user', 0), (1, 2, 'pay', 'user', 1), (2, 3, 'ship', 'admin', 2),
                 (1, 6, 'timeout', 'system', 15)) as m (was, becomes, trigger, actor, step)
      on m.becomes = 1 or (o.status = 6 and m.becomes = 6) or (o.status in (2, 3) and m.becomes between 2 and o.status)
    order by o.id, m.step`;
  await tx`
    insert into orders.payments (order_id, provider, method, amount, status, paid_at, created_at)
    select o.id, 'instant', o.payment_method, o.total_amount, 'succeeded', o.paid_at, o.paid_at
    from new_orders n join orders.orders o using (id) where o.status in (2, 3) order by o.id`;
}

/** Writes stock, reservations and shipments of the drawn orders. */
async function writeStock(tx: Transaction): Promise<void> {
  await tx`
    insert into inventory.inventory_reservation (biz_type, biz_no, sku_id, qty, status, expires_at, created_at, updated_at)
    select 'order', order_no, sku_id, qty,
           case status when 1 then 'reserved' when 6 then 'released' else 'confirmed' end, created_at, created_at, created_at
    from new_lines order by order_no, sku_id`;
  await tx`
    insert into inventory.order_inventory_state (order_no, provider, status, updated_at)
    select order_no, 'local', case status when 1 then 'reserved' when 6 then 'released' else 'confirmed' end, created_at
    from new_orders order by order_no`;
  await tx`
    insert into fulfilment.shipments (order_id, delivery_type, direction, biz_type, company, tracking_no, logistics_status,
      shipped_at, created_at, updated_at)
    select id, 'express', 'outbound', 'initial', (array['SF','YTO','ZTO','EMS'])[1 + id % 4], 'SF' || id, 'shipped', created_at,
           created_at, created_at
    from new_orders where status = 3 order by id`;
  await tx`
    with moved as (
      select sku_id, sum(qty) filter (where status = 1) as held, sum(qty) filter (where status in (2, 3)) as sold
      from new_lines group by sku_id
    ), locked as materialized (
      select s.id from catalog.product_skus s join moved on moved.sku_id = s.id order by s.id for no key update of s
    )
    update catalog.product_skus s
    set stock = s.stock + coalesce(held, 0), reserved_stock = s.reserved_stock + coalesce(held, 0), sold = s.sold + coalesce(moved.sold, 0)
    from moved join locked on locked.id = moved.sku_id where s.id = moved.sku_id`;
}

/**
 * Fills the shop with the orders of a year. Each transaction writes 50,000 orders, so an interrupted seed leaves a smaller
 * shop that is consistent. Reports progress.
 */
export async function seedScale(
  sql: Sql,
  { orders, shoppers, products }: Scale,
  onProgress: ScaleProgress,
): Promise<Scale> {
  const started = performance.now();
  const seconds = () => `${((performance.now() - started) / 1000).toFixed(0)} s`;
  onProgress(`${shoppers.toLocaleString('en')} shoppers, ${products.toLocaleString('en')} products`);
  const buyers = await addShoppers(sql, shoppers);
  const skus = await addProducts(sql, products);
  for (let from = 0; from < orders; from += chunk) {
    const count = Math.min(chunk, orders - from);
    await sql.begin(async (tx) => {
      await tx`set local statement_timeout = 0`;
      await tx`set local synchronous_commit = off`;
      await drawOrders(tx, { from, count, total: orders, shoppers: buyers, skus });
      await writeOrders(tx);
      await writeStock(tx);
    });
    onProgress(`${(from + count).toLocaleString('en')} of ${orders.toLocaleString('en')} orders, ${seconds()}`);
  }
  onProgress(`reading statistics, ${seconds()}`);
  const one = await sql.reserve();
  try {
    await one`set statement_timeout = 0`;
    await one`vacuum analyze`;
    await one`reset statement_timeout`;
  } finally {
    one.release();
  }
  return { orders, shoppers, products };
}
