import type { Transaction } from '@tradepost/postgres';
import { ConfigError, type Runtime, shopLocale } from '@tradepost/runtime';
import { insertCompletedDocuments } from '../documents/complete-documents.ts';
import { ownProviders } from '../providers/own-providers.ts';
import { type InventoryProviderEntry, skuLedgerOf, warehouseProviderNames } from '../reservations/provider-registry.ts';
import { selectProvidersWithOpenOrders } from '../reservations/state-store.ts';
import {
  firstWarehouse,
  hasStockOutsideWarehouses,
  lockAllSkus,
  lockProviderState,
  placeReservations,
  returnReservationsToSkus,
  selectSkuReservations,
  selectWarehouseStock,
  writeProviderState,
} from './migration-store.ts';
import { planMigration } from './plan-migration.ts';

const mainWarehouse = { en: 'Main warehouse', 'zh-CN': '主仓库' } as const;

type Deps = Pick<Runtime, 'sql' | 'now' | 'settings'>;
type Ledgers = { skus: string; warehouses: string };

/** Moves the stock of SKUs and its open reservations into warehouses, with completed documents. */
async function moveIntoWarehouses({ settings, now }: Deps, tx: Transaction, providers: Ledgers): Promise<void> {
  // Warehouses are locked before SKUs, as in all transactions.
  const first = await firstWarehouse(tx, mainWarehouse[settings.get(shopLocale)]);
  const skus = await lockAllSkus(tx);
  const reservations = await selectSkuReservations(tx, providers.skus);
  const { moves, placed } = planMigration(skus, await selectWarehouseStock(tx), reservations, first);
  const at = now();
  // Outbound documents come first, so that stock leaves one warehouse before it arrives in another.
  const documents = [...moves].sort((a, b) => b.doc_type.localeCompare(a.doc_type));
  const { outcomes, statements } = await insertCompletedDocuments(
    tx,
    documents.map((move) => ({
      ...{ ...move, biz_type: 'takeover' as const, biz_no: at.toISOString() },
      remark: `inventory.provider = ${providers.warehouses}`,
    })),
    { mirrors: false, now: at },
  );
  const refusal = outcomes.find((outcome) => outcome instanceof Error);
  if (refusal) throw refusal;
  for (const statement of statements) await statement;
  if (placed.length > 0) await placeReservations(tx, placed, providers.warehouses);
}

/** Throws ConfigError when orders are open at a provider that no running module has. */
async function checkFormerProviders(
  tx: Transaction,
  known: readonly string[],
  providers: readonly InventoryProviderEntry[],
): Promise<void> {
  const missing = known.filter((name) => !providers.some((provider) => provider.name === name));
  const open = missing.length > 0 ? await selectProvidersWithOpenOrders(tx, missing) : [];
  if (open.length > 0)
    throw new ConfigError(
      open.map(
        (name) => `inventory.provider: orders reserved with ${name} are open, and no running module has this provider`,
      ),
    );
}

/**
 * Migrates stock when the active provider has changed since the last start. Stock moves between SKUs and warehouses. The stock
 * and the open orders of a remote provider stay with it. Returns every provider that was ever active, the present one last.
 */
export async function migrateProvider(
  deps: Deps,
  active: InventoryProviderEntry,
  providers: readonly InventoryProviderEntry[],
): Promise<readonly string[]> {
  const skus = skuLedgerOf(providers).name;
  const warehouseProviders = warehouseProviderNames(providers);
  const toWarehouses = active.capabilities.mirrorsWarehouses;
  const ledgers = { skus, warehouses: active.name };
  return deps.sql.begin(async (tx): Promise<string[]> => {
    const state = await lockProviderState(tx);
    if (state) await checkFormerProviders(tx, state.known, providers);
    if (state?.provider === active.name) {
      // An interrupted seed has written products and has not moved their stock into warehouses yet.
      if (toWarehouses && (await hasStockOutsideWarehouses(tx))) await moveIntoWarehouses(deps, tx, ledgers);
      return state.known;
    }
    // Before the first start all stock is on the SKUs.
    const { provider: previous, known: former } = state ?? { provider: skus, known: [skus] };
    if (toWarehouses) await moveIntoWarehouses(deps, tx, ledgers);
    else if (warehouseProviders.includes(previous)) {
      await lockAllSkus(tx);
      await returnReservationsToSkus(tx, { from: warehouseProviders, to: skus });
    }
    const all = [...former.filter((name) => name !== active.name), active.name];
    await writeProviderState(tx, { provider: active.name, known: all });
    return all;
  });
}

/** Moves the stock of seeded products into warehouses, when the provider of the last start holds stock in warehouses. */
export async function moveSeededStock(deps: Deps): Promise<void> {
  await deps.sql.begin(async (tx) => {
    const state = await lockProviderState(tx);
    if (!state || !warehouseProviderNames(ownProviders).includes(state.provider)) return;
    await moveIntoWarehouses(deps, tx, { skus: skuLedgerOf(ownProviders).name, warehouses: state.provider });
  });
}
