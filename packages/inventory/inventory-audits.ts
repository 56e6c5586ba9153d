import type { Queryable } from '@tradepost/postgres';
import type { Audit } from '@tradepost/runtime';
import {
  type InventoryProviderEntry,
  remoteProviderNames,
  warehouseProviderNames,
} from './reservations/provider-registry.ts';

const quantityByStatus = (sql: Queryable, status: 'reserved' | 'confirmed') => sql`
  select sku_id, sum(qty)::bigint as qty from inventory.inventory_reservation where status = ${status} group by sku_id`;

const skuAudits = (remoteProviders: readonly string[]): readonly Audit[] => [
  {
    name: 'inventory.stock_bounds',
    about: 'the stock of a SKU is not negative, and its reserved stock is at most its stock',
    query: (sql) => sql`
      select id as sku_id, stock, reserved_stock from catalog.product_skus
      where stock < 0 or reserved_stock < 0 or reserved_stock > stock`,
  },
  {
    name: 'inventory.reserved_stock',
    about:
      'the reserved stock of a SKU is the sum of its open reservations, except those in disabled or external warehouses',
    query: (sql) => sql`
      select s.id as sku_id, s.reserved_stock, coalesce(r.qty, 0) as open_reservations
      from catalog.product_skus s
      left join (
        select r.sku_id, sum(r.qty)::bigint as qty
        from inventory.inventory_reservation r
        left join inventory.order_inventory_state o on o.order_no = r.biz_no
        left join inventory.warehouses w on w.id = r.warehouse_id
        where r.status = 'reserved' and (o.provider = any(${[...remoteProviders]}::text[])) is not true and w.status is distinct from 0
        group by r.sku_id) as r on r.sku_id = s.id
      where s.reserved_stock <> coalesce(r.qty, 0)`,
  },
  {
    name: 'inventory.sold',
    about: 'the sold quantity of a SKU is the sum of its confirmed reservations',
    query: (sql) => sql`
      select s.id as sku_id, s.sold, coalesce(r.qty, 0) as confirmed_reservations
      from catalog.product_skus s left join (${quantityByStatus(sql, 'confirmed')}) as r on r.sku_id = s.id
      where s.sold <> coalesce(r.qty, 0)`,
  },
];

const warehouseAudits = (warehouseProviders: readonly string[]): readonly Audit[] => [
  {
    name: 'inventory.shelf_sums',
    about: 'when warehouses hold the stock, the stock of a SKU is the sum of its stock in the enabled warehouses',
    query: (sql) => sql`
      select s.id as sku_id, s.stock, s.reserved_stock, coalesce(i.qty, 0) as on_shelves, coalesce(i.reserved, 0) as reserved
      from catalog.product_skus s
      left join (
        select i.sku_id, sum(i.qty)::bigint as qty, sum(i.reserved_qty)::bigint as reserved
        from inventory.inventory_stock i join inventory.warehouses w on w.id = i.warehouse_id and w.status = 1
        group by i.sku_id) as i on i.sku_id = s.id
      where exists (select from inventory.provider_state where provider = any(${[...warehouseProviders]}::text[]))
        and (s.stock <> coalesce(i.qty, 0) or s.reserved_stock <> coalesce(i.reserved, 0))`,
  },
  {
    name: 'inventory.shelf_reserved',
    about: 'the reserved quantity of a SKU in a warehouse is the sum of its open reservations there',
    query: (sql) => sql`
      select coalesce(i.warehouse_id, r.warehouse_id) as warehouse_id, coalesce(i.sku_id, r.sku_id) as sku_id,
             i.qty, i.reserved_qty, coalesce(r.qty, 0) as open_reservations
      from inventory.inventory_stock i
      full join (
        select warehouse_id, sku_id, sum(qty)::bigint as qty from inventory.inventory_reservation
        where status = 'reserved' and warehouse_id > 0 group by warehouse_id, sku_id) as r
        on r.warehouse_id = i.warehouse_id and r.sku_id = i.sku_id
      where coalesce(i.reserved_qty, 0) <> coalesce(r.qty, 0)`,
  },
  {
    name: 'inventory.shelf_movements',
    about: 'the quantity of a SKU in a warehouse is the sum of its movements there',
    query: (sql) => sql`
      select coalesce(i.warehouse_id, m.warehouse_id) as warehouse_id, coalesce(i.sku_id, m.sku_id) as sku_id,
             coalesce(i.qty, 0) as qty, coalesce(m.qty, 0) as movements
      from inventory.inventory_stock i
      full join (
        select warehouse_id, sku_id, sum(change_qty)::bigint as qty from inventory.stock_movements
        group by warehouse_id, sku_id) as m on m.warehouse_id = i.warehouse_id and m.sku_id = i.sku_id
      where coalesce(i.qty, 0) <> coalesce(m.qty, 0)`,
  },
  {
    name: 'inventory.movement_chain',
    about: 'every movement starts from the quantity that the movement before it ended with',
    query: (sql) => sql`
      select id as movement_id, warehouse_id, sku_id, biz_type, doc_no, before_qty, left_before
      from (select *, lag(after_qty, 1, 0) over (partition by warehouse_id, sku_id order by id) as left_before
            from inventory.stock_movements) as chained
      where before_qty <> left_before`,
  },
  {
    name: 'inventory.documents',
    about: 'the movements of a completed document are its items, and no other document has movements',
    query: (sql) => sql`
      select d.id as doc_id, coalesce(d.doc_no, m.doc_no) as doc_no, d.status, coalesce(i.sku_id, m.sku_id) as sku_id,
             coalesce(i.qty, 0) as on_document, coalesce(m.qty, 0) as moved
      from (select d.id, d.doc_no, d.status, i.sku_id, sum(i.qty)::bigint as qty
            from inventory.stock_documents d join inventory.stock_document_items i on i.doc_id = d.id
            where d.status = 'completed' group by d.id, d.doc_no, d.status, i.sku_id) as i
      full join (select doc_id, doc_no, sku_id, abs(sum(change_qty))::bigint as qty from inventory.stock_movements
                 where doc_id > 0 group by doc_id, doc_no, sku_id) as m on m.doc_id = i.id and m.sku_id = i.sku_id
      left join inventory.stock_documents d on d.id = coalesce(i.id, m.doc_id)
      where coalesce(i.qty, 0) <> coalesce(m.qty, 0)`,
  },
  {
    name: 'inventory.case_documents',
    about: 'what an after-sale case has moved in warehouses is on completed documents of the case',
    query: (sql) => sql`
      select m.biz_no, m.action, m.sku_id, m.qty, coalesce(d.qty, 0) as on_documents
      from inventory.after_sale_moves m
      left join (
        select d.biz_type, d.biz_no, i.sku_id, sum(i.qty)::bigint as qty
        from inventory.stock_documents d join inventory.stock_document_items i on i.doc_id = d.id
        where d.status = 'completed' and d.biz_type in ('restore', 'deduct') group by d.biz_type, d.biz_no, i.sku_id) as d
        on d.biz_type = m.action and d.biz_no = m.biz_no and d.sku_id = m.sku_id
      where m.provider = any(${[...warehouseProviders]}::text[]) and m.qty is distinct from d.qty`,
  },
];

/** The audits of this package. They depend on the inventory providers of the modules that run. */
export const inventoryAudits = (providers: readonly InventoryProviderEntry[]): readonly Audit[] => [
  ...skuAudits(remoteProviderNames(providers)),
  ...warehouseAudits(warehouseProviderNames(providers)),
];
