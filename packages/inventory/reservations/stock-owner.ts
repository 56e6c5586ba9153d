import type { StockOwner } from '@tradepost/catalog';
import type { Runtime } from '@tradepost/runtime';
import { selectProvider } from '../provider-migration/migration-store.ts';
import { inventoryProvider } from '../settings.ts';
import { entryOf, type InventoryProviderEntry } from './provider-registry.ts';

/**
 * The stock owner for a command that runs beside the shop. It belongs to the provider that the shop last started with; the
 * setting takes effect only at the next start.
 */
export async function openStockOwner(
  runtime: Pick<Runtime, 'sql' | 'settings' | 'now'>,
  providers: readonly InventoryProviderEntry[],
): Promise<StockOwner> {
  const name = (await selectProvider(runtime.sql)) ?? runtime.settings.get(inventoryProvider);
  return { ...entryOf(providers, name).stockOwner(runtime), sellable: null };
}
