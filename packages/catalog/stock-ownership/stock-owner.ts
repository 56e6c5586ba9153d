import {
  defineRegistry,
  type Module,
  type ModuleContext,
  type StaticEntries,
  staticEntriesOf,
} from '@tradepost/module';
import type { Statement, Transaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';

/** Where the stock of the SKUs is kept, as far as the catalogue has to know. The inventory package adds one for its active provider. */
export type StockOwner = {
  /** True where the editor of a product sets its stock. False where warehouses keep it: a save leaves the stock unchanged. */
  readonly editable: boolean;
  /**
   * Statements that record SKUs that are new or whose stock was set, for the transaction that wrote them; null where no
   * other system needs to know.
   */
  readonly announce: ((tx: Transaction, skus: readonly { sku_id: number; stock: number }[]) => Statement[]) | null;
  /**
   * The sellable quantity of these SKUs, where the stock column is not the source; null where it is. Resolves to null, or
   * lacks a SKU, when the quantity is not known in time. Never rejects.
   */
  readonly sellable: ((skuIds: readonly number[]) => Promise<ReadonlyMap<number, number> | null>) | null;
};

/** The stock column of the SKU is the source. */
export const ownStock: StockOwner = { editable: true, announce: null, sellable: null };

export const stockOwners = defineRegistry<StockOwner>('catalog.stock_owners');

/** The owner of stock in this shop; the catalogue itself where no module adds one. Throws when two modules do. */
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

/** For a command beside the shop: the owner of stock by what the modules declare; the catalogue itself where none declares one. */
export async function openStockOwner(
  runtime: Parameters<OpenStockOwner>[0],
  modules: readonly Module[],
): Promise<StockOwner> {
  const entries = staticEntriesOf(modules);
  const [open, ...others] = entries(stockOwnerOpeners);
  if (others.length > 0) throw new Error('two modules own the stock of the SKUs');
  return open ? open(runtime, entries) : ownStock;
}
