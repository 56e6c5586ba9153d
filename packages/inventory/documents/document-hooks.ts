import type { Statement, Transaction } from '@tradepost/postgres';

export type DocType = 'inbound' | 'outbound';

/** A completed document. `items` are its lines; a SKU may be in several. */
export type CompletedDocument = {
  id: number;
  doc_no: string;
  warehouse_id: number;
  doc_type: DocType;
  /** `manual`, or the reason for which the shop itself wrote it. */
  biz_type: string;
  biz_no: string;
  items: readonly { sku_id: number; qty: number }[];
};

/** The parts of the warehouse administration that depend on the active provider. */
export type WarehouseHooks = {
  /** Whether `catalog.sku_stock` carries the sums over the enabled warehouses. */
  readonly mirrors: boolean;
  /** Statements for the transaction that completes the documents. */
  completed(tx: Transaction, docs: readonly CompletedDocument[]): Statement[];
};
