import type { Statement, Transaction } from '@tradepost/postgres';

/** Who keeps the stock of the SKUs, as far as the catalogue has to know. The inventory package makes one for its provider. */
export type StockKeeper = {
  /** Whether a SKU's stock is the editor's to set; else warehouses keep it, and what is saved leaves it alone. */
  readonly editable: boolean;
  /** Tells of SKUs that are new or whose stock was set, in the transaction that wrote them; null when nobody has to know. */
  readonly announce: ((tx: Transaction, skus: readonly { sku_id: number; stock: number }[]) => Statement[]) | null;
  /**
   * What can be sold of these SKUs, where the catalogue's own number is not the truth; answers null, or lacks a SKU, when it
   * is not known in time. Never rejects.
   */
  readonly sellable: ((skuIds: readonly number[]) => Promise<ReadonlyMap<number, number> | null>) | null;
};

/** Stock kept on the SKU itself. */
export const ownStock: StockKeeper = { editable: true, announce: null, sellable: null };
