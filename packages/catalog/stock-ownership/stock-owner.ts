import {
  defineRegistry,
  type Module,
  type ModuleContext,
  type StaticEntries,
  staticEntriesOf,
} from '@tradepost/module';
import type { Statement, Transaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';

/** The stock owner of the SKUs, as the catalogue sees it. The inventory package adds one for its active provider. */
export type StockOwner = {
  /** True where the editor of a product sets its stock. False where warehouses keep it: a save leaves the stock unchanged. */
  readonly editable: boolean;
  /**
   * Returns statements that record SKUs that are new or whose stock was set, for the transaction that wrote them. Null
   * when no other system needs to know.
   */
  readonly announce: ((tx: Transaction, skus: readonly { sku_id: number; stock: number }[]) => Statement[]) | null;
  /**
   * Reads the sellable quantity of these SKUs, when the stock column is not the source; null when it is. Resolves to
   * null, or to a map without a SKU, when the quantity is not known in time. Never rejects.
   */
  readonly sellable: ((skuIds: readonly number[]) => Promise<ReadonlyMap<number, number> | null>) | null;
};

/** The stock column of the SKU is the source. */
export const ownStock: StockOwner = { editable: true, announce: null, sellable: null };

export const stockOwners = defineRegistry<StockOwner>('catalog.stock_owners');

/**
 * The stock owner in this shop. Without an entry of a module it is the catalogue itself. Throws when two modules add
 * one.
 */
export function stockOwnerIn({ entries }: Pick<ModuleContext, 'entries'>): StockOwner {
  const [owner = ownStock, ...others] = entries(stockOwners);
  if (others.length > 0) throw new Error('two modules own the stock of the SKUs');
  return owner;
}

type OpenStockOwner = (
  runtime: Pick<Runtime, 'sql' | 'settings' | 'now'>,
  entries: StaticEntries,
) => Promise<StockOwner>;

/** Opens the stock owner of a module in a process that opens no modules, such as a command. */
export const stockOwnerOpeners = defineRegistry<OpenStockOwner>('catalog.stock_owner_openers', { isStatic: true });

/**
 * The stock owner for a command that runs beside the shop, as the modules declare it. Without a declaration it is the
 * catalogue itself.
 */
export async function openStockOwner(
  runtime: Parameters<OpenStockOwner>[0],
  modules: readonly Module[],
): Promise<StockOwner> {
  const entries = staticEntriesOf(modules);
  const [open, ...others] = entries(stockOwnerOpeners);
  if (others.length > 0) throw new Error('two modules own the stock of the SKUs');
  return open ? open(runtime, entries) : ownStock;
}
