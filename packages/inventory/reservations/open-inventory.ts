import type { StockOwner } from '@tradepost/catalog';
import type { Route } from '@tradepost/http';
import type { Provision } from '@tradepost/module';
import { ConfigError, type Runtime, selectStoredSettings } from '@tradepost/runtime';
import { openCaseStock } from '../after-sales/move-case-stock.ts';
import type { WarehouseHooks } from '../documents/document-hooks.ts';
import { documentRoutes } from '../documents/document-routes.ts';
import { migrateProvider } from '../provider-migration/migrate-provider.ts';
import { inventoryProvider, providerSetting } from '../settings.ts';
import { movementRoutes } from '../stock/movement-routes.ts';
import { stockRoutes } from '../stock/stock-routes.ts';
import { warehouseRoutes } from '../warehouses/warehouse-routes.ts';
import type { Inventory, InventoryProvider, WriteOrderStatus } from './provider.ts';
import { entryOf, type InventoryProviderEntry, type OpenedProvider, skuLedgerOf } from './provider-registry.ts';
import { settleByProvider } from './settle-by-provider.ts';

export type OpenedInventory = {
  /** The operations for orders. */
  readonly inventory: Inventory;
  /** The stock owner for the catalogue. */
  readonly stockOwner: StockOwner;
  readonly routes: readonly Route[];
  /** The services that providers offer. */
  readonly provides: readonly Provision[];
  close(): Promise<void>;
};

type Deps = { writeOrderStatus: WriteOrderStatus; providers: readonly InventoryProviderEntry[] };

/**
 * Throws ConfigError when a setting that is read at start has an invalid stored value. The default must not replace it,
 * because stock would be migrated to another provider.
 */
async function checkStored(
  { sql, settings }: Pick<Runtime, 'sql' | 'settings'>,
  providers: readonly InventoryProviderEntry[],
): Promise<void> {
  const stored = new Map((await selectStoredSettings(sql)).map(({ key, value }) => [key, value]));
  const inFile = new Set(settings.list().flatMap(({ key, source }) => (source === 'file' ? [key] : [])));
  const readAtStart = [providerSetting(providers), ...providers.flatMap((provider) => provider.readAtStart ?? [])];
  const wrong = readAtStart.filter(
    ({ key, schema }) => stored.has(key) && !inFile.has(key) && !schema.safeParse(stored.get(key)).success,
  );
  if (wrong.length === 0) return;
  const names = providers.map(({ name }) => name).join(', ');
  const valuesOf = (key: string) => (key === inventoryProvider.key ? `: ${names}` : '');
  throw new ConfigError(
    wrong.map(({ key }) => `${key}: ${JSON.stringify(stored.get(key))} is not one of its values${valuesOf(key)}`),
  );
}

/**
 * The operations of the remote providers among `names`. They settle the orders that they reserved, also when another provider
 * is active.
 */
function remoteOperations(
  providers: readonly InventoryProviderEntry[],
  opened: ReadonlyMap<string, OpenedProvider>,
  names: readonly string[],
): Map<string, InventoryProvider> {
  const remote = providers.filter(({ name, capabilities }) => names.includes(name) && !capabilities.holdsLocally);
  return new Map(remote.map(({ name }) => [name, opened.get(name)!.operations]));
}

/**
 * Opens all providers and chooses the active one, once at start. When the active provider has changed since the last start,
 * stock is migrated first. Throws ConfigError when the active provider cannot run.
 */
export async function openInventory(runtime: Runtime, deps: Deps): Promise<OpenedInventory> {
  const { writeOrderStatus, providers } = deps;
  if (new Set(providers.map(({ name }) => name)).size < providers.length)
    throw new Error('two modules add an inventory provider of the same name');
  await checkStored(runtime, providers);
  const active = entryOf(providers, runtime.settings.get(inventoryProvider));
  active.check?.(runtime);
  const known = await migrateProvider(runtime, active, providers);
  const opened = new Map(providers.map((provider) => [provider.name, provider.open({ runtime, writeOrderStatus })]));
  const {
    operations,
    preReserve = null,
    preReserveRefusals = [],
    notifyNow = null,
    completed,
    sellable = null,
  } = opened.get(active.name)!;
  const remote = remoteOperations(providers, opened, known);
  // Orders of local providers are settled by the active provider if it holds locally. Otherwise the migration has moved their
  // reservations to the SKUs.
  const local = active.capabilities.holdsLocally ? operations : opened.get(skuLedgerOf(providers).name)!.operations;
  const hasLocalOrders = known.some((name) => !remote.has(name));
  const hooks: WarehouseHooks = {
    mirrors: active.capabilities.mirrorsWarehouses,
    completed: completed ?? (() => []),
  };
  return {
    inventory: {
      ...operations,
      ...settleByProvider({ active: operations, local: hasLocalOrders ? local : null, remote, writeOrderStatus }),
      ...openCaseStock(runtime, operations),
      preReserve,
      preReserveRefusals: preReserve ? preReserveRefusals : [],
      notifyNow,
    },
    stockOwner: { ...active.stockOwner(runtime), sellable },
    routes: [
      ...warehouseRoutes(runtime, hooks),
      ...documentRoutes(runtime, hooks),
      ...stockRoutes(runtime),
      ...movementRoutes(runtime),
    ],
    provides: [...opened.values()].flatMap((provider) => provider.provides ?? []),
    async close() {
      for (const provider of opened.values()) await provider.close?.();
    },
  };
}
