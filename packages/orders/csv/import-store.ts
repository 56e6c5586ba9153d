import type { Queryable, Sql, Transaction } from '@tradepost/postgres';
import type { Order } from '../orders/order.ts';
import { blockBits } from '../orders/order-counts-store.ts';
import type { NewOrderItem } from '../orders/order-store.ts';

/** An arbitrary number. One import writes at a time. */
const importLock = 6_120_447_093;
/** Ids that other transactions may take while the sequence is moved. */
const slack = 8_192;
const blockSize = 2 ** blockBits;

export type ImportFile = { digest: Buffer; orders: number; newest_first: boolean };
export type StoredImport = { id: number; orders: number; first_id: number; newest_first: boolean };

/** Lets one import write at a time, and writes no entries of the change log: `order_imports` has one for the file. */
export async function lockImport(tx: Transaction): Promise<void> {
  await tx`
    select set_config('lock_timeout', '60s', true), set_config('tradepost.actor', '', true),
           pg_advisory_xact_lock(${importLock})`;
}

/**
 * The ids of the orders of a file: those of an earlier import of the file, or new ones. They fill whole blocks, which have no other
 * orders, because the counts of a block say which days it has.
 */
export async function reserveImport(sql: Sql, file: ImportFile): Promise<StoredImport> {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${importLock})`;
    const [known] = await tx<StoredImport[]>`
      select id, orders, first_id, newest_first from orders.order_imports where digest = ${file.digest}`;
    if (known) return known;
    const span = Math.ceil(file.orders / blockSize) * blockSize;
    const [row] = await tx<StoredImport[]>`
      with next as materialized (select nextval('orders.orders_id_seq') as id)
      insert into orders.order_imports (digest, orders, first_id, newest_first)
      select ${file.digest}, ${file.orders}, ((id + ${slack}::bigint) >> ${blockBits}::int) << ${blockBits}::int,
             ${file.newest_first} from next
      returning id, orders, first_id, newest_first, setval('orders.orders_id_seq', first_id + ${span}::bigint - 1)`;
    return row!;
  });
}

export async function finishImport(sql: Sql, id: number): Promise<void> {
  await sql.begin(
    (tx) => tx`update orders.order_imports set finished_at = now() where id = ${id} and finished_at is null`,
  );
}

export type FoundSku = { id: number; product_id: number; cover: string };

/** The SKUs with these codes, by the code in lower case. A code that several SKUs have is absent. */
export async function selectSkusByCode(
  sql: Queryable,
  codes: readonly string[],
): Promise<ReadonlyMap<string, FoundSku>> {
  const rows = await sql<(FoundSku & { code: string })[]>`
    select lower(s.sku_code) as code, min(s.id) as id, min(s.product_id) as product_id, min(p.cover) as cover
    from catalog.sku_stock s join catalog.product_facts p on p.id = s.product_id
    where lower(s.sku_code) = any(${[...codes]}::text[]) and s.sku_code <> '' and p.deleted_at is null
    group by 1 having count(*) = 1`;
  return new Map(rows.map(({ code, ...sku }) => [code, sku]));
}

export type ImportedOrder = Omit<Order, 'expires_at' | 'discounts' | 'price_steps'> & {
  nickname: string;
  shopper_account: string;
  shopper_phone: string;
  search: string;
};
export type ImportedItem = Omit<
  NewOrderItem,
  'warehouse_id' | 'activity_product_id' | 'activity_id' | 'activity_type' | 'discounts'
> & {
  sku_code: string;
};
export type ImportedMove = {
  order_id: number;
  from_status: number | null;
  to_status: number;
  trigger: 'create' | 'pay' | 'import';
  created_at: Date;
};

/** Inserts finished orders with their lines and history, in one statement. */
export async function insertImported(
  tx: Transaction,
  orders: readonly ImportedOrder[],
  items: readonly ImportedItem[],
  moves: readonly ImportedMove[],
): Promise<void> {
  await tx`
    with given as materialized (
      select * from json_to_recordset(${JSON.stringify(orders)}::text::json) as o (id bigint, order_no text, user_id bigint,
        merchant_id bigint, status smallint, inventory_status text, payment_method text, goods_amount bigint,
        discount_amount bigint, freight_amount bigint, total_amount bigint, address_snapshot jsonb, remark text,
        tracking_no text, paid_at timestamptz, created_at timestamptz, updated_at timestamptz, nickname text,
        shopper_account text, shopper_phone text, search text)
    ), placed as (
      insert into orders.orders (id, order_no, user_id, merchant_id, status, inventory_status, payment_method, goods_amount,
        discount_amount, freight_amount, total_amount, address_snapshot, province, remark, tracking_no, expires_at, paid_at,
        created_at, updated_at)
      select id, order_no, user_id, merchant_id, status, inventory_status, payment_method, goods_amount, discount_amount,
        freight_amount, total_amount, address_snapshot, address_snapshot ->> 'province', remark, tracking_no, created_at,
        paid_at, created_at, updated_at
      from given
    ), imported as (
      insert into orders.imported_orders (order_id, nickname, shopper_account, shopper_phone, search)
      select id, nickname, shopper_account, shopper_phone, search from given
    ), lines as (
      insert into orders.order_items (order_id, product_id, sku_id, sku_code, activity_title, title, cover, attrs, price, qty,
        payable_amount)
      select order_id, product_id, sku_id, sku_code, activity_title, title, cover, attrs, price, qty, payable_amount
      from json_to_recordset(${JSON.stringify(items)}::text::json) as i (order_id bigint, product_id bigint, sku_id bigint,
        sku_code text, activity_title text, title text, cover text, attrs jsonb, price bigint, qty int, payable_amount bigint)
    )
    insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type, created_at)
    select order_id, from_status, to_status, trigger, 'system', created_at
    from json_to_recordset(${JSON.stringify(moves)}::text::json) as h (order_id bigint, from_status smallint, to_status smallint,
      trigger text, created_at timestamptz)`;
}
