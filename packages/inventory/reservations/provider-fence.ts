import type { Statement, Transaction } from '@tradepost/postgres';

/** Fails the transaction when stock is not kept there any more; sent after the locks of SKUs. */
export const mustKeepStock = (tx: Transaction, where: 'on SKUs' | 'in warehouses'): Statement =>
  tx`select inventory.must_keep_stock(${where === 'in warehouses'})`;
