import type { InventoryProviderEntry } from '../reservations/provider-registry.ts';
import { builtinEntry } from './builtin/builtin-entry.ts';
import { localEntry } from './local/local-entry.ts';

/** The providers of this package. Other packages add theirs to `inventoryProviders`. */
export const ownProviders: readonly InventoryProviderEntry[] = [localEntry, builtinEntry];
