import type { Transaction } from '@tradepost/postgres';
import { defineRegistry } from '../registry.ts';

/**
 * Reads orders that an import of history has written, in its transaction: at most some hundred orders. Imported orders record no
 * events, because no message about an old order is to be sent. The reader writes rows of its package only.
 */
export type ImportedOrderReader = (tx: Transaction, orderIds: readonly number[]) => Promise<void>;

/** What other packages do with imported orders. */
export const importedOrderReaders = defineRegistry<ImportedOrderReader>('module.imported_order_readers', {
  isStatic: true,
});
