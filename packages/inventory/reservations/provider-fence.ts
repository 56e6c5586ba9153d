import type { Statement, Transaction } from '@tradepost/postgres';

/**
 * A statement that fails the transaction when a provider migration has moved the stock elsewhere. Send it after the
 * lock of the SKUs: a migration locks them too, so the result then stays valid until the commit.
 */
export const mustKeepStock = (tx: Transaction, where: 'on SKUs' | 'in warehouses'): Statement =>
  tx`select inventory.must_keep_stock(${where === 'in warehouses'})`;
