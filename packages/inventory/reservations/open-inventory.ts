import type { StockOwner } from '@tradepost/catalog';
import type { Route } from '@tradepost/http';
import { ConfigError, type Cron, type Runtime, selectStoredSettings, type Tasks } from '@tradepost/runtime';
import type { WarehouseHooks } from '../documents/document-hooks.ts';
import { documentRoutes } from '../documents/document-routes.ts';
import { documentTasks } from '../external-wms/document-tasks.ts';
import { aheadRefusals } from '../external-wms/external-provider.ts';
import { checkExternal, openExternal } from '../external-wms/open-external.ts';
import { takeOver } from '../provider-migration/migrate-provider.ts';
import { builtinProvider } from '../providers/builtin/builtin-provider.ts';
import { localProvider } from '../providers/local/local-provider.ts';
import { externalMode, inventoryProvider, type ProviderName } from '../settings.ts';
import { movementRoutes } from '../stock/movement-routes.ts';
import { stockRoutes } from '../stock/stock-routes.ts';
import { warehouseRoutes } from '../warehouses/warehouse-routes.ts';
import type { Inventory, InventoryProvider, WriteOrderStatus } from './provider.ts';
import { settleByProvider } from './settle-by-provider.ts';
import { stockOwnerOf } from './stock-owner.ts';

export type OpenedInventory = {
  /** For orders. */
  readonly inventory: Inventory;
  /** For the catalogue. */
  readonly stockOwner: StockOwner;
  readonly routes: readonly Route[];
  readonly tasks: Tasks;
  readonly crons: readonly Cron[];
  close(): Promise<void>;
};

/** A stored choice that is none must not fall back to the default here: that would take the books along. */
async function checkChoices({ sql, settings }: Pick<Runtime, 'sql' | 'settings'>): Promise<void> {
  const stored = new Map((await selectStoredSettings(sql)).map(({ key, value }) => [key, value]));
  const inFile = new Set(settings.list().flatMap(({ key, source }) => (source === 'file' ? [key] : [])));
  const wrong = [inventoryProvider, externalMode].filter(
    ({ key, schema }) => stored.has(key) && !inFile.has(key) && !schema.safeParse(stored.get(key)).success,
  );
  if (wrong.length > 0)
    throw new ConfigError(
      wrong.map(({ key }) => `${key}: ${JSON.stringify(stored.get(key))} is not one of its values`),
    );
}

/**
 * The stock of this shop, by the provider that is set; chosen once at start, when the books of another one are taken over.
 * Throws ConfigError when it can not work.
 */
export async function openInventory(
  runtime: Runtime,
  { writeOrderStatus }: { writeOrderStatus: WriteOrderStatus },
): Promise<OpenedInventory> {
  await checkChoices(runtime);
  const name = runtime.settings.get(inventoryProvider);
  if (name === 'external_wms') checkExternal(runtime);
  const known = await takeOver(runtime, name);
  const external = openExternal(runtime, writeOrderStatus);
  const providers: Record<ProviderName, InventoryProvider> = {
    local: localProvider,
    builtin_wms: builtinProvider,
    external_wms: external.provider,
  };
  const current = providers[name];
  // Whoever leaves warehouses or SKUs for a partner leaves open orders with the SKUs.
  const former =
    name === 'external_wms'
      ? known.some((one) => one !== name) && localProvider
      : known.includes('external_wms') && external.provider;
  const hooks: WarehouseHooks = {
    mirrors: name === 'builtin_wms',
    completed: (tx, docs) => (name === 'external_wms' ? external.intents(tx, documentTasks(docs), { restMs: 0 }) : []),
  };
  const isExternal = name === 'external_wms';
  return {
    inventory: {
      ...current,
      ...settleByProvider(current, former || null, writeOrderStatus),
      reserveAhead: isExternal ? external.reserveAhead : null,
      aheadRefusals: isExternal && external.reserveAhead ? aheadRefusals : [],
      tellNow: isExternal ? external.tellNow : null,
    },
    stockOwner: stockOwnerOf(runtime, name, external.sellable),
    routes: [
      ...warehouseRoutes(runtime, hooks),
      ...documentRoutes(runtime, hooks),
      ...stockRoutes(runtime),
      ...movementRoutes(runtime),
      ...external.routes,
    ],
    tasks: external.tasks,
    crons: external.crons,
    close: external.close,
  };
}
