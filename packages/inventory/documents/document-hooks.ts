import type { Statement, Transaction } from '@tradepost/postgres';

export type DocType = 'inbound' | 'outbound';

/** A document as it was completed; `items` as they stand on it, a SKU may be there twice. */
export type CompletedDocument = {
  id: number;
  doc_no: string;
  warehouse_id: number;
  doc_type: DocType;
  /** `manual`, or what the shop itself wrote it for. */
  biz_type: string;
  biz_no: string;
  items: readonly { sku_id: number; qty: number }[];
};

/** What the provider in force adds to the warehouse administration. */
export type WarehouseHooks = {
  /** Whether `catalog.sku_stock` carries the sums over the enabled warehouses (builtin_wms). */
  readonly mirrors: boolean;
  /** Statements for the transaction that completes the documents. */
  completed(tx: Transaction, docs: readonly CompletedDocument[]): Statement[];
};
