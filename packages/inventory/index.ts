import { type Runtime, setting } from '@tradepost/runtime';
import { z } from 'zod';
import { localProvider } from './local-provider.ts';
import type { InventoryProvider } from './provider.ts';

export { inventoryAudits } from './inventory-audits.ts';
export type { Demand, InventoryProvider, InventoryStatus, StockHold } from './provider.ts';

const providerName = setting(
  'inventory.provider',
  z.enum(['local']),
  'local',
  'who keeps the stock of orders: local (on the SKU itself)',
);

/** The provider in force, chosen once at start. */
export function openInventory(runtime: Runtime): InventoryProvider {
  const providers = { local: localProvider } as const;
  return providers[runtime.settings.get(providerName)];
}

export const inventorySettings = [providerName] as const;
