import { stockOwnerOpeners, stockOwners } from '@tradepost/catalog';
import { dashboardCards, dashboardLists, defineService, type Module } from '@tradepost/module';
import { inventoryAudits } from './inventory-audits.ts';
import { reportAllLowStock } from './low-stock/report-low-stock.ts';
import { stockLow } from './low-stock/stock-events.ts';
import { inventoryMenu } from './menu.ts';
import { moveSeededStock } from './provider-migration/migrate-provider.ts';
import { ownProviders } from './providers/own-providers.ts';
import { openInventory } from './reservations/open-inventory.ts';
import { orderStatusWriter } from './reservations/order-status-writers.ts';
import type { Inventory } from './reservations/provider.ts';
import { inventoryProviders } from './reservations/provider-registry.ts';
import { openStockOwner } from './reservations/stock-owner.ts';
import { providerSetting } from './settings.ts';
import { stockWarningCard, stockWarningList } from './stock/stock-warnings.ts';
import { inventoryInChangeLog, inventoryPublishes, inventoryTables } from './tables.ts';

const lowStockTask = 'inventory.report_low_stock';

/** The inventory operations that orders use. */
export const inventoryService = defineService<Inventory>('inventory.inventory');

export const inventoryModule: Module = {
  name: 'inventory',
  needs: ['identity', 'catalog'],
  tables: inventoryTables,
  changeLog: inventoryInChangeLog,
  publishes: inventoryPublishes,
  menu: inventoryMenu,
  events: [stockLow],
  seedDemo: { finish: moveSeededStock },
  entries: [
    ...ownProviders.map(inventoryProviders.add),
    dashboardCards.add(stockWarningCard),
    dashboardLists.add(stockWarningList),
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
      tasks: {
        async [lowStockTask](_payload, { log, signal, stopping = signal }) {
          const events = await reportAllLowStock(context.runtime, AbortSignal.any([signal, stopping]));
          if (events > 0) log.debug({ events }, 'low stock reported');
        },
      },
      crons: [{ task: lowStockTask, match: '* * * * *' }],
      close: opened.close,
    };
  },
};
