import type { TableInChangeLog } from '@tradepost/runtime';

export const inventoryTables: readonly string[] = [
  'inventory.inventory_reservation',
  'inventory.order_inventory_state',
  'inventory.after_sale_moves',
  'inventory.provider_state',
  'inventory.warehouses',
  'inventory.inventory_stock',
  'inventory.stock_documents',
  'inventory.stock_document_items',
  'inventory.stock_movements',
  'inventory.low_stock_skus',
  'inventory.low_stock_scan',
];

/**
 * The function fails a statement when its condition is false. `external-wms` uses it when it ends pre-reservations. The view has
 * what came back into stock for after-sale cases.
 */
export const inventoryPublishes: readonly string[] = ['inventory.must_be_held', 'inventory.restored_stock'];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const inventoryInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'inventory.inventory_reservation': { unwatched: 'Follows from orders.' },
  'inventory.order_inventory_state': { unwatched: 'Follows from orders.' },
  'inventory.after_sale_moves': { unwatched: 'Follows from after-sale cases.' },
  'inventory.provider_state': { en: 'inventory provider', 'zh-CN': '库存方式' },
  'inventory.warehouses': { en: 'warehouse', 'zh-CN': '仓库' },
  'inventory.inventory_stock': { en: 'warehouse stock', 'zh-CN': '仓库库存' },
  'inventory.stock_documents': { en: 'stock document', 'zh-CN': '库存单据' },
  'inventory.stock_document_items': { en: 'item of a stock document', 'zh-CN': '库存单据明细' },
  'inventory.stock_movements': { unwatched: 'The history of stock, whose table is watched.' },
  'inventory.low_stock_skus': { unwatched: 'Derived from the stock.' },
  'inventory.low_stock_scan': { unwatched: 'Derived from the stock.' },
};
