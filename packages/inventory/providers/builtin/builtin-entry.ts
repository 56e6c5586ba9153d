import { ownStock } from '@tradepost/catalog';
import type { InventoryProviderEntry } from '../../reservations/provider-registry.ts';
import { builtinProvider } from './builtin-provider.ts';

/** Stock is held per warehouse and SKU. The catalogue shows the sums and does not edit them. */
export const builtinEntry: InventoryProviderEntry = {
  name: builtinProvider.name,
  aliases: ['wms'],
  about: 'warehouses',
  capabilities: { holdsLocally: true, mirrorsWarehouses: true },
  stockOwner: () => ({ ...ownStock, editable: false }),
  open: () => ({ operations: builtinProvider }),
};
