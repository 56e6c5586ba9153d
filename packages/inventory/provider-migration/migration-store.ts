import type { Queryable, Transaction } from '@tradepost/postgres';
import type { Placed } from './plan-migration.ts';

/** An arbitrary number. With this lock, processes that start together migrate one after the other. */
const migrationLock = 7_205_883_152;

/** `known`: every provider that was ever active in this shop, the present one last. */
export type ProviderState = { provider: string; known: string[] };

/** The provider of the last start, locked until the transaction ends. Undefined before the first start. */
export async function lockProviderState(tx: Transaction): Promise<ProviderState | undefined> {
  // A second process waits for the first, whose migration takes long for a large catalogue.
  await tx`select set_config('lock_timeout', '10min', true), set_config('statement_timeout', '0', true)`;
  await tx`select pg_advisory_xact_lock(${migrationLock})`;
  const [row] = await tx<ProviderState[]>`select provider, known from inventory.provider_state`;
  return row;
}

/** The provider of the last start; undefined before the first start. */
export async function selectProvider(sql: Queryable): Promise<string | undefined> {
  const [row] = await sql<{ provider: string }[]>`select provider from inventory.provider_state`;
  return row?.provider;
}

export async function writeProviderState(tx: Transaction, { provider, known }: ProviderState): Promise<void> {
  await tx`
    insert into inventory.provider_state (provider, known) values (${provider}, ${known})
    on conflict (only_row) do update set provider = excluded.provider, known = excluded.known, since = now()`;
}

/** Whether a SKU with stock has no row in any warehouse. */
export async function hasStockOutsideWarehouses(tx: Transaction): Promise<boolean> {
  const [row] = await tx<{ found: boolean }[]>`
    select exists (select from catalog.sku_stock s where s.stock > 0
                   and not exists (select from inventory.inventory_stock i where i.sku_id = s.id)) as found`;
  return row!.found;
}

/** Locks every SKU in id order. */
export async function lockAllSkus(tx: Transaction): Promise<{ id: number; stock: number; reserved_stock: number }[]> {
  return tx<{ id: number; stock: number; reserved_stock: number }[]>`
    select id, stock, reserved_stock from catalog.sku_stock order by id for no key update`;
}

/** The first enabled warehouse, or a new one. The locks keep the status of all warehouses until the transaction ends. */
export async function firstWarehouse(tx: Transaction, name: string): Promise<number> {
  const all = await tx<{ id: number; status: number }[]>`
    select id, status from inventory.warehouses order by id for share`;
  const enabled = all.find((warehouse) => warehouse.status === 1);
  if (enabled) return enabled.id;
  const [made] = await tx<{ id: number }[]>`
    insert into inventory.warehouses (code, name)
    select case when exists (select from inventory.warehouses where code = 'MAIN') then 'MAIN-' || count(*) else 'MAIN' end, ${name}
    from inventory.warehouses
    returning id`;
  return made!.id;
}

export async function selectWarehouseStock(
  tx: Transaction,
): Promise<{ warehouse_id: number; sku_id: number; qty: number; reserved_qty: number }[]> {
  return tx<{ warehouse_id: number; sku_id: number; qty: number; reserved_qty: number }[]>`
    select s.warehouse_id, s.sku_id, s.qty, s.reserved_qty
    from inventory.inventory_stock s join inventory.warehouses w on w.id = s.warehouse_id and w.status = 1
    order by s.warehouse_id, s.sku_id`;
}

/** The open reservations of this provider, which holds stock on the SKUs. */
export async function selectSkuReservations(
  tx: Transaction,
  provider: string,
): Promise<{ biz_no: string; sku_id: number; qty: number }[]> {
  return tx<{ biz_no: string; sku_id: number; qty: number }[]>`
    select r.biz_no, r.sku_id, r.qty
    from inventory.inventory_reservation r join inventory.order_inventory_state o on o.order_no = r.biz_no
    where r.biz_type = 'order' and r.status = 'reserved' and o.provider = ${provider}
    order by r.biz_no, r.sku_id`;
}

/** Assigns open reservations to their warehouses and to this provider. The reserved stock of the SKUs does not change. */
export async function placeReservations(tx: Transaction, placed: readonly Placed[], provider: string): Promise<void> {
  await tx`
    with placed as materialized (
      select * from unnest(${placed.map((p) => p.biz_no)}::text[], ${placed.map((p) => p.sku_id)}::bigint[],
                           ${placed.map((p) => p.warehouse_id)}::bigint[], ${placed.map((p) => p.qty)}::int[])
        as p (biz_no, sku_id, warehouse_id, qty)
    ), reservations as (
      update inventory.inventory_reservation r set warehouse_id = p.warehouse_id, updated_at = now()
      from placed p where r.biz_type = 'order' and r.biz_no = p.biz_no and r.sku_id = p.sku_id
    ), ledger as (
      update inventory.inventory_stock s set reserved_qty = s.reserved_qty + p.qty, updated_at = now()
      from (select sku_id, warehouse_id, sum(qty)::int as qty from placed group by sku_id, warehouse_id) as p
      where s.sku_id = p.sku_id and s.warehouse_id = p.warehouse_id
    ), movements as (
      insert into inventory.stock_movements (warehouse_id, sku_id, biz_type, change_qty, before_qty, after_qty, doc_no)
      select p.warehouse_id, p.sku_id, 'reserve', 0, s.qty, s.qty, p.biz_no
      from placed p join inventory.inventory_stock s on s.sku_id = p.sku_id and s.warehouse_id = p.warehouse_id
      order by p.biz_no, p.sku_id
    )
    update inventory.order_inventory_state set provider = ${provider}, updated_at = now()
    where order_no in (select biz_no from placed)`;
}

/**
 * Moves open reservations from warehouses to the SKUs. Reserved stock in disabled warehouses is added to the SKUs, because the
 * stock of a SKU must cover its reservations. The quantities in the warehouses stay.
 */
export async function returnReservationsToSkus(
  tx: Transaction,
  { from, to }: { from: readonly string[]; to: string },
): Promise<void> {
  await tx`
    with moved as (
      update inventory.inventory_reservation r set warehouse_id = 0, updated_at = now()
      from inventory.order_inventory_state o
      where o.order_no = r.biz_no and o.provider = any(${[...from]}::text[]) and r.biz_type = 'order' and r.status = 'reserved'
      returning r.biz_no
    ), hidden as (
      select s.sku_id, sum(s.reserved_qty)::int as qty
      from inventory.inventory_stock s join inventory.warehouses w on w.id = s.warehouse_id and w.status = 0
      where s.reserved_qty > 0 group by s.sku_id
    ), skus as (
      update catalog.sku_stock s set stock = s.stock + h.qty, reserved_stock = s.reserved_stock + h.qty
      from hidden h where s.id = h.sku_id
    ), ledger as (
      update inventory.inventory_stock set reserved_qty = 0, updated_at = now() where reserved_qty > 0
    )
    update inventory.order_inventory_state set provider = ${to}, updated_at = now()
    where order_no in (select biz_no from moved)`;
}
