import { ownStock } from '@tradepost/catalog';
import { mustKeepStock } from '../../reservations/provider-fence.ts';
import type { InventoryProviderEntry } from '../../reservations/provider-registry.ts';
import { localProvider } from './local-provider.ts';

/** Stock is held on the SKU itself, and the catalogue edits it there. */
export const localEntry: InventoryProviderEntry = {
  name: localProvider.name,
  aliases: [''],
  about: 'on the SKU',
  capabilities: { holdsLocally: true, mirrorsWarehouses: false },
  stockOwner: () => ({ ...ownStock, announce: (tx) => [mustKeepStock(tx, 'on SKUs')] }),
  open: () => ({ operations: localProvider }),
};
