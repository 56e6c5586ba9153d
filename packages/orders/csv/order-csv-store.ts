import { selectContacts } from '@tradepost/identity';
import { plannedByValue, type Queryable, type Statement } from '@tradepost/postgres';
import type { Order, OrderItem } from '../orders/order.ts';
import { type AdminOrderFilter, conditions } from '../orders/order-page-store.ts';
import { orderColumns } from '../orders/order-store.ts';
import type { OrderRecord } from './order-record.ts';
import { specsText } from './specs.ts';

type StoredItem = Pick<
  OrderItem,
  'product_id' | 'sku_id' | 'title' | 'attrs' | 'price' | 'qty' | 'payable_amount' | 'activity_title'
> & { sku_code: string };
type StoredOrder = Order & {
  items: StoredItem[];
  /** The shopper as the file named it, for an imported order. */
  imported: { nickname: string; account: string; phone: string } | null;
};

/** These orders with their lines. `ids` is a common table expression with the column id. */
const storedOrders = (sql: Queryable, ids: Statement): Statement => sql`
  select ${orderColumns(sql)}, (
    select coalesce(jsonb_agg(jsonb_build_object('product_id', i.product_id, 'sku_id', i.sku_id,
        'sku_code', coalesce(i.sku_code, (select s.sku_code from catalog.sku_stock s where s.id = i.sku_id), ''),
        'title', i.title, 'attrs', i.attrs, 'price', i.price, 'qty', i.qty, 'payable_amount', i.payable_amount,
        'activity_title', i.activity_title) order by i.id), '[]')
    from orders.order_items i where i.order_id = o.id) as items, (
    select jsonb_build_object('nickname', m.nickname, 'account', m.shopper_account, 'phone', m.shopper_phone)
    from orders.imported_orders m where m.order_id = o.id) as imported
  from ${ids} as page join orders.orders o using (id) order by o.id desc`;

/** The records of stored orders. `withShoppers` false reads nothing about their shoppers. */
async function recordsOf(
  sql: Queryable,
  orders: readonly StoredOrder[],
  withShoppers: boolean,
): Promise<(OrderRecord & { isImported: boolean })[]> {
  const own = orders.flatMap(({ imported, user_id }) => (imported || user_id === 0 ? [] : [user_id]));
  const contacts = withShoppers && own.length > 0 ? await selectContacts(sql, [...new Set(own)]) : new Map();
  const unknown = { nickname: '', account: '', phone: '' };
  return orders.map(({ id, user_id, items, imported, address_snapshot, ...order }) => {
    const { name = '', phone = '', province = '', city = '', district = '', detail = '' } = address_snapshot;
    return {
      ...order,
      order_id: id,
      isImported: imported !== null,
      shopper: { id: user_id, ...(imported ?? contacts.get(user_id) ?? unknown) },
      receiver: { name, phone, province, city, district, detail },
      items: items.map(({ attrs, activity_title, ...item }) => ({
        ...item,
        specs: specsText(attrs),
        activity: activity_title,
      })),
    };
  });
}

/**
 * The matching orders with their lines, newest first, in batches. Each batch is a statement that continues below the last
 * id, so neither the memory nor the statement timeout limits the number of orders.
 */
export async function* scanOrders(
  sql: Queryable,
  filter: AdminOrderFilter,
  { batch, withShoppers }: { batch: number; withShoppers: boolean },
): AsyncGenerator<OrderRecord[]> {
  const { restrictedTo } = filter;
  if (filter.provinces?.length === 0) return;
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const from = restrictedTo
      ? sql`${restrictedTo} as s join orders.orders o on o.id = s.order_id`
      : sql`orders.orders o`;
    const page = sql`(
      select o.id from ${from} where ${conditions(sql, filter)} and o.id < ${before} order by o.id desc limit ${batch})`;
    const rows = await plannedByValue(sql<StoredOrder[]>`${storedOrders(sql, page)}`);
    if (rows.length === 0) return;
    yield await recordsOf(sql, rows, withShoppers);
    if (rows.length < batch) return;
    before = rows.at(-1)!.id;
  }
}

/** The orders with these numbers, by number. A number that no order has is absent. Two statements. */
export async function selectRecords(
  sql: Queryable,
  numbers: readonly string[],
): Promise<ReadonlyMap<string, OrderRecord & { isImported: boolean }>> {
  const ids = sql`(select id from orders.orders where order_no = any(${[...numbers]}::text[]))`;
  const rows = await sql<StoredOrder[]>`${storedOrders(sql, ids)}`;
  const records = await recordsOf(sql, rows, true);
  return new Map(records.map((record) => [record.order_no, record]));
}
