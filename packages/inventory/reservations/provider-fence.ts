import type { Statement, Transaction } from '@tradepost/postgres';

/**
 * Fails the transaction when a provider migration has moved the stock elsewhere. It is sent after the SKUs are locked, because
 * a migration locks them too.
 */
export const mustKeepStock = (tx: Transaction, where: 'on SKUs' | 'in warehouses'): Statement =>
  tx`select inventory.must_keep_stock(${where === 'in warehouses'})`;
