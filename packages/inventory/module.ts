import { stockOwners } from '@tradepost/catalog';
import { defineRegistry, defineService, type Module } from '@tradepost/module';
import { externalMetrics } from './external-wms/protocol/external-metrics.ts';
import { inventoryAudits } from './inventory-audits.ts';
import { inventoryMenu } from './menu.ts';
import { shelveSeeded } from './provider-migration/migrate-provider.ts';
import { openInventory } from './reservations/open-inventory.ts';
import type { Inventory, WriteOrderStatus } from './reservations/provider.ts';
import { inventoryRetention } from './retention.ts';
import { inventorySettings } from './settings.ts';
import { inventoryTables } from './tables.ts';

/** The inventory operations that orders use. */
export const inventoryService = defineService<Inventory>('inventory.inventory');
/** Writes the inventory status of orders: one entry, added by the package that owns orders. */
export const orderStatusWriters = defineRegistry<WriteOrderStatus>('inventory.order_status_writers');

export const inventoryModule: Module = {
  name: 'inventory',
  needs: ['identity', 'catalog'],
  tables: inventoryTables,
  settings: inventorySettings,
  menu: inventoryMenu,
  seedDemo: { finish: shelveSeeded },
  audits: inventoryAudits,
  retention: inventoryRetention,
  metrics: externalMetrics,
  async open(context) {
    const writeOrderStatus: WriteOrderStatus = (tx, rows) => {
      const [write] = context.entries(orderStatusWriters);
      if (!write) throw new Error('no module writes the inventory status of orders');
      return write(tx, rows);
    };
    const opened = await openInventory(context.runtime, { writeOrderStatus });
    return {
      provides: [inventoryService.provide(opened.inventory)],
      contributions: [stockOwners.add(opened.stockOwner)],
      routes: () => opened.routes,
      tasks: opened.tasks,
      crons: opened.crons,
      close: opened.close,
    };
  },
};
