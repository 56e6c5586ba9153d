import { defineRegistry, type Module, staticEntriesOf } from '@tradepost/module';
import type { WriteOrderStatus } from './provider.ts';

/** Writes the inventory status of orders: one entry, added by the package that owns orders. */
export const orderStatusWriters = defineRegistry<WriteOrderStatus>('inventory.order_status_writers', {
  isStatic: true,
});

/** The writer that these modules declare. Throws when it is used and no module declares one. */
export function orderStatusWriter(modules: readonly Module[]): WriteOrderStatus {
  const [write] = staticEntriesOf(modules)(orderStatusWriters);
  return (tx, rows) => {
    if (!write) throw new Error('no module writes the inventory status of orders');
    return write(tx, rows);
  };
}
