import { stockOwnerOpeners, stockOwners } from '@tradepost/catalog';
import { defineService, type Module } from '@tradepost/module';
import { inventoryAudits } from './inventory-audits.ts';
import { inventoryMenu } from './menu.ts';
import { moveSeededStock } from './provider-migration/migrate-provider.ts';
import { ownProviders } from './providers/own-providers.ts';
import { openInventory } from './reservations/open-inventory.ts';
import { orderStatusWriter } from './reservations/order-status-writers.ts';
import type { Inventory } from './reservations/provider.ts';
import { inventoryProviders } from './reservations/provider-registry.ts';
import { openStockOwner } from './reservations/stock-owner.ts';
import { providerSetting } from './settings.ts';
import { inventoryPublishes, inventoryTables } from './tables.ts';

/** The inventory operations that orders use. */
export const inventoryService = defineService<Inventory>('inventory.inventory');

export const inventoryModule: Module = {
  name: 'inventory',
  needs: ['identity', 'catalog'],
  tables: inventoryTables,
  publishes: inventoryPublishes,
  menu: inventoryMenu,
  seedDemo: { finish: moveSeededStock },
  entries: [
    ...ownProviders.map(inventoryProviders.add),
    stockOwnerOpeners.add((runtime, entries) => openStockOwner(runtime, entries(inventoryProviders))),
  ],
  declares(entries) {
    const providers = entries(inventoryProviders);
    return { settings: [providerSetting(providers)], audits: inventoryAudits(providers) };
  },
  async open(context) {
    const writeOrderStatus = orderStatusWriter(context.modules);
    const providers = context.entries(inventoryProviders);
    const opened = await openInventory(context.runtime, { writeOrderStatus, providers });
    return {
      provides: [inventoryService.provide(opened.inventory), ...opened.provides],
      contributions: [stockOwners.add(opened.stockOwner)],
      routes: () => opened.routes,
      close: opened.close,
    };
  },
};
