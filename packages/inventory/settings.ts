import { type Setting, setting } from '@tradepost/runtime';
import { z } from 'zod';
import { localEntry } from './providers/local/local-entry.ts';
import type { InventoryProviderEntry } from './reservations/provider-registry.ts';

/**
 * The setting inventory.provider, for code that reads it. Its values depend on the modules that run, so the registered
 * definition is that of `providerSetting`.
 */
export const inventoryProvider = setting(
  'inventory.provider',
  z.string(),
  localEntry.name,
  'the inventory provider that holds the stock of orders; read at start',
);

/** inventory.provider with the names and aliases of these providers as its values. */
export function providerSetting(providers: readonly InventoryProviderEntry[]): Setting<string> {
  const names = providers.map(({ name }) => name);
  const nameOf = new Map(providers.flatMap(({ name, aliases = [] }) => aliases.map((alias) => [alias, name] as const)));
  const described = providers.map(({ name, about }) => (about ? `${name} (${about})` : name));
  return {
    ...inventoryProvider,
    schema: z.preprocess((value) => nameOf.get(String(value)) ?? value, z.enum(names)),
    about: `the inventory provider that holds the stock of orders: ${described.join(', ')}; read at start`,
  };
}
