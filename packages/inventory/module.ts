import { stockOwners } from '@tradepost/catalog';
import { defineRegistry, defineService, type Module } from '@tradepost/module';
import { inventoryAudits } from './inventory-audits.ts';
import { inventoryMenu } from './menu.ts';
import { shelveSeeded } from './provider-migration/migrate-provider.ts';
import { ownProviders } from './providers/own-providers.ts';
import { openInventory } from './reservations/open-inventory.ts';
import type { Inventory, WriteOrderStatus } from './reservations/provider.ts';
import { inventoryProviders } from './reservations/provider-registry.ts';
import { providerSetting } from './settings.ts';
import { inventoryPublishes, inventoryTables } from './tables.ts';

/** The inventory operations that orders use. */
export const inventoryService = defineService<Inventory>('inventory.inventory');
/** Writes the inventory status of orders: one entry, added by the package that owns orders. */
export const orderStatusWriters = defineRegistry<WriteOrderStatus>('inventory.order_status_writers');

export const inventoryModule: Module = {
  name: 'inventory',
  needs: ['identity', 'catalog'],
  tables: inventoryTables,
  publishes: inventoryPublishes,
  menu: inventoryMenu,
  seedDemo: { finish: shelveSeeded },
  entries: ownProviders.map(inventoryProviders.add),
  declares(entries) {
    const providers = entries(inventoryProviders);
    return { settings: [providerSetting(providers)], audits: inventoryAudits(providers) };
  },
  async open(context) {
    const writeOrderStatus: WriteOrderStatus = (tx, rows) => {
      const [write] = context.entries(orderStatusWriters);
      if (!write) throw new Error('no module writes the inventory status of orders');
      return write(tx, rows);
    };
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
