export const externalWmsTables: readonly string[] = [
  'inventory.inventory_integration_tasks',
  'inventory.external_callbacks',
  'inventory.external_nonces',
];
