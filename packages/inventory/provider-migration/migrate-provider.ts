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

/** Moves the stock that SKUs hold into warehouses, by completed documents, with the open reservations. */
async function moveIntoWarehouses({ settings, now }: Deps, tx: Transaction, providers: Ledgers): Promise<void> {
  // Warehouses are locked before SKUs, here as everywhere.
  const first = await firstWarehouse(tx, mainWarehouse[settings.get(shopLocale)]);
  const skus = await lockAllSkus(tx);
  const held = await selectSkuReservations(tx, providers.skus);
  const { moves, placed } = planMigration(skus, await selectWarehouseStock(tx), held, first);
  const at = now();
  // Stock leaves one warehouse before it arrives in another.
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

/** Refuses to start without a provider whose orders are still to be settled. */
async function checkFormerProviders(
  tx: Transaction,
  known: readonly string[],
  providers: readonly InventoryProviderEntry[],
): Promise<void> {
  const missing = known.filter((name) => !providers.some((provider) => provider.name === name));
  const open = missing.length > 0 ? await selectProvidersWithOpenOrders(tx, missing) : [];
  if (open.length > 0)
    throw new ConfigError(
      open.map((name) => `inventory.provider: orders reserved with ${name} are open, and no module that runs has it`),
    );
}

/**
 * Migrates stock when the active provider is not that of the last start. Stock moves from SKUs into warehouses and back; the
 * stock of a remote provider stays there, and so do its open orders. Returns every provider that was ever active, the
 * present one last.
 */
export async function migrateProvider(
  deps: Deps,
  active: InventoryProviderEntry,
  providers: readonly InventoryProviderEntry[],
): Promise<readonly string[]> {
  const skus = skuLedgerOf(providers).name;
  const shelves = warehouseProviderNames(providers);
  const toShelves = active.capabilities.mirrorsWarehouses;
  const ledgers = { skus, warehouses: active.name };
  return deps.sql.begin(async (tx): Promise<string[]> => {
    const state = await lockProviderState(tx);
    if (state) await checkFormerProviders(tx, state.known, providers);
    if (state?.provider === active.name) {
      // A seed was interrupted between its products and their stock in warehouses.
      if (toShelves && (await hasStockOutsideWarehouses(tx))) await moveIntoWarehouses(deps, tx, ledgers);
      return state.known;
    }
    // A shop that has never started held its stock on the SKUs.
    const { provider: before, known: former } = state ?? { provider: skus, known: [skus] };
    if (toShelves) await moveIntoWarehouses(deps, tx, ledgers);
    else if (shelves.includes(before)) {
      await lockAllSkus(tx);
      await returnReservationsToSkus(tx, { from: shelves, to: skus });
    }
    const all = [...former.filter((name) => name !== active.name), active.name];
    await writeProviderState(tx, { provider: active.name, known: all });
    return all;
  });
}

/** Moves the stock of products that a seed wrote into warehouses, where the provider of the last start holds it there. */
export async function moveSeededStock(deps: Deps): Promise<void> {
  await deps.sql.begin(async (tx) => {
    const state = await lockProviderState(tx);
    if (!state || !warehouseProviderNames(ownProviders).includes(state.provider)) return;
    await moveIntoWarehouses(deps, tx, { skus: skuLedgerOf(ownProviders).name, warehouses: state.provider });
  });
}
