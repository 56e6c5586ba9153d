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

/** Fails a statement whose condition does not hold: the external warehouse writes its tasks with it. */
export const inventoryPublishes: readonly string[] = ['inventory.must_be_held'];
