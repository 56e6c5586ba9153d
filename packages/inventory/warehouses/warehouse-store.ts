import type { Paging } from '@tradepost/core';
import type { Queryable, Sql, Transaction } from '@tradepost/postgres';

type WarehouseStatus = 0 | 1;
export type Warehouse = {
  id: number;
  code: string;
  name: string;
  address: string;
  contact: string;
  phone: string;
  status: WarehouseStatus;
  created_at: Date;
  updated_at: Date;
};
export type WarehouseFields = Pick<Warehouse, 'code' | 'name' | 'address' | 'contact' | 'phone' | 'status'>;
/** Undefined fields do not change. */
export type WarehouseChange = { [K in keyof WarehouseFields]?: WarehouseFields[K] | undefined };

const columns = (sql: Queryable) => sql`
  id, code, name, address, contact, phone, status, created_at, updated_at`;
const contains = (keyword: string) => `%${keyword.replace(/[\\%_]/g, '\\$&')}%`;

export async function selectWarehouses(
  sql: Sql,
  { keyword, status }: { keyword?: string | undefined; status?: number | undefined },
  paging: Paging,
): Promise<{ rows: Warehouse[]; total: number }> {
  const where = sql`true
    ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${keyword ? sql`and concat_ws(E'\n', name, code, contact, phone) ilike ${contains(keyword)}` : sql``}`;
  const rows = await sql<(Warehouse & { total: number })[]>`
    with page as (
      select ${columns(sql)} from inventory.warehouses where ${where}
      order by id limit ${paging.size} offset ${paging.offset}
    ), counted as (select count(*)::int as total from inventory.warehouses where ${where})
    select page.*, counted.total from counted left join page on true order by page.id`;
  return { rows: rows.filter((row) => row.id !== null), total: rows[0]?.total ?? 0 };
}

export async function selectWarehouse(sql: Queryable, id: number): Promise<Warehouse | undefined> {
  const [row] = await sql<Warehouse[]>`select ${columns(sql)} from inventory.warehouses where id = ${id}`;
  return row;
}

/** Counts the warehouses. The lock keeps the count until the transaction ends. */
export async function lockAndCountWarehouses(tx: Transaction): Promise<number> {
  await tx`lock table inventory.warehouses in share row exclusive mode`;
  const [row] = await tx<{ n: number }[]>`select count(*)::int as n from inventory.warehouses`;
  return row!.n;
}

/** Undefined when the code is taken. */
export async function insertWarehouse(tx: Transaction, fields: WarehouseFields): Promise<Warehouse | undefined> {
  const [row] = await tx<Warehouse[]>`
    insert into inventory.warehouses (code, name, address, contact, phone, status)
    values (${fields.code}, ${fields.name}, ${fields.address}, ${fields.contact}, ${fields.phone}, ${fields.status})
    on conflict (code) do nothing returning ${columns(tx)}`;
  return row;
}

/** Locks a warehouse against changes, and against documents that are being completed in it. */
export async function lockWarehouse(tx: Transaction, id: number): Promise<Pick<Warehouse, 'status'> | undefined> {
  const [row] = await tx<Pick<Warehouse, 'status'>[]>`
    select status from inventory.warehouses where id = ${id} for no key update`;
  return row;
}

export type LockedWarehouse = Pick<Warehouse, 'id' | 'name' | 'status'>;
/** Share locks: the status of the warehouses does not change until the transaction ends. Several transactions may have them. */
export async function lockWarehousesForShare(tx: Transaction, ids: readonly number[]): Promise<LockedWarehouse[]> {
  return tx<LockedWarehouse[]>`
    select id, name, status from inventory.warehouses where id = any(${[...ids]}::bigint[]) order by id for share`;
}

/** Share locks on the enabled warehouses, on the oldest one and on these others, in id order. */
export async function lockEnabledWarehouses(tx: Transaction, others: readonly number[]): Promise<LockedWarehouse[]> {
  return tx<LockedWarehouse[]>`
    select id, name, status from inventory.warehouses
    where status = 1 or id = any(${[...others]}::bigint[]) or id = (select min(id) from inventory.warehouses)
    order by id for share`;
}

/**
 * Share locks on the warehouses of these documents. The documents are not locked yet, so a document may move to another
 * warehouse meanwhile.
 */
export async function lockWarehousesOfDocuments(
  tx: Transaction,
  docIds: readonly number[],
): Promise<LockedWarehouse[]> {
  return tx<LockedWarehouse[]>`
    select id, name, status from inventory.warehouses
    where id in (select d.warehouse_id from inventory.stock_documents d where d.id = any(${[...docIds]}::bigint[]))
    order by id for share`;
}

/** Updates a locked warehouse. Fails with 23505 when another warehouse has the code. */
export async function updateWarehouse(tx: Transaction, id: number, change: WarehouseChange): Promise<void> {
  const { code = null, name = null, address = null, contact = null, phone = null, status = null } = change;
  await tx`
    update inventory.warehouses
    set code = coalesce(${code}::text, code), name = coalesce(${name}::text, name),
        address = coalesce(${address}::text, address), contact = coalesce(${contact}::text, contact),
        phone = coalesce(${phone}::text, phone), status = coalesce(${status}::smallint, status), updated_at = now()
    where id = ${id}`;
}

/** Locks the SKUs that have stock in this warehouse, in id order, before their sums change. */
export async function lockSkusInWarehouse(tx: Transaction, warehouseId: number): Promise<void> {
  await tx`
    with locked as (
      select s.id from catalog.sku_stock s
      where s.id in (select i.sku_id from inventory.inventory_stock i where i.warehouse_id = ${warehouseId})
      order by s.id for no key update of s)
    select count(*) from locked`;
}

/** Adds the stock of a warehouse to the sums on its locked SKUs (1), or subtracts it (-1). */
export async function mirrorWarehouse(tx: Transaction, warehouseId: number, sign: 1 | -1): Promise<void> {
  await tx`
    update catalog.sku_stock s
    set stock = s.stock + ${sign}::int * i.qty, reserved_stock = s.reserved_stock + ${sign}::int * i.reserved_qty
    from inventory.inventory_stock i
    where i.warehouse_id = ${warehouseId} and s.id = i.sku_id and (i.qty > 0 or i.reserved_qty > 0)`;
}
