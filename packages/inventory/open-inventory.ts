import type { Module } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { builtinProvider } from './builtin-provider.ts';
import type { WarehouseHooks } from './document-hooks.ts';
import { documentRoutes } from './document-routes.ts';
import { localProvider } from './local-provider.ts';
import { movementRoutes } from './movement-routes.ts';
import type { Inventory, InventoryProvider, WriteOrderStatus } from './provider.ts';
import { inventoryProvider } from './settings.ts';
import { stockRoutes } from './stock-routes.ts';
import { warehouseRoutes } from './warehouse-routes.ts';

export type OpenedInventory = {
  /** For orders. */
  readonly inventory: Inventory;
  readonly module: Module;
  close(): Promise<void>;
};

/** The stock of this shop, by the provider that is set; chosen once at start. Throws ConfigError when it can not work. */
export async function openInventory(
  runtime: Runtime,
  _deps: { writeOrderStatus: WriteOrderStatus },
): Promise<OpenedInventory> {
  const name = runtime.settings.get(inventoryProvider);
  const provider: InventoryProvider = name === 'builtin_wms' ? builtinProvider : localProvider;
  const hooks: WarehouseHooks = { mirrors: name === 'builtin_wms', completed: () => [] };
  return {
    inventory: {
      ...provider,
      confirm: async (tx, bizNos) => provider.confirm(tx, bizNos),
      release: async (tx, bizNos, reason) => provider.release(tx, bizNos, reason),
      reserveAhead: null,
      settled: async () => {},
    },
    module: {
      name: 'inventory',
      routes: [
        ...warehouseRoutes(runtime, hooks),
        ...documentRoutes(runtime, hooks),
        ...stockRoutes(runtime, hooks),
        ...movementRoutes(runtime),
      ],
    },
    close: async () => {},
  };
}
