export const inventoryTables: readonly string[] = [
  'inventory.inventory_reservation',
  'inventory.order_inventory_state',
  'inventory.provider_state',
  'inventory.warehouses',
  'inventory.inventory_stock',
  'inventory.stock_documents',
  'inventory.stock_document_items',
  'inventory.stock_movements',
];

/**
 * The function fails a statement when its condition is false. `external-wms` uses it when it ends pre-reservations.
 */
export const inventoryPublishes: readonly string[] = ['inventory.must_be_held'];
