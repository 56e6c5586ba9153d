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
];

/**
 * The function fails a statement when its condition is false. `external-wms` uses it when it ends pre-reservations. The view has
 * what came back into stock for after-sale cases.
 */
export const inventoryPublishes: readonly string[] = ['inventory.must_be_held', 'inventory.restored_stock'];
