import { defineRegistry, type Module, staticEntriesOf } from '@tradepost/module';
import type { WriteOrderStatus } from './provider.ts';

/** The function that writes the inventory status of orders. The package that owns orders adds the only entry. */
export const orderStatusWriters = defineRegistry<WriteOrderStatus>('inventory.order_status_writers', {
  isStatic: true,
});

/** The writer that these modules declare. A call throws when no module declares one. */
export function orderStatusWriter(modules: readonly Module[]): WriteOrderStatus {
  const [write] = staticEntriesOf(modules)(orderStatusWriters);
  return (tx, rows) => {
    if (!write) throw new Error('no module writes the inventory status of orders');
    return write(tx, rows);
  };
}
