import type { Runtime } from '@tradepost/runtime';
import { autoCompleteDays } from '../settings.ts';
import { completeOrders } from './move-orders.ts';
import { selectShippedBefore } from './order-lines-store.ts';

export const autoCompleteTask = 'orders.auto_complete';
const batch = 500;
const dayMs = 24 * 60 * 60 * 1000;

/**
 * Completes the orders that were shipped `orders.auto_complete_days` ago or earlier, and returns their number. An order
 * with an open after-sale is in another state and is left out. It may run twice or in several workers, because the move
 * is guarded by the state.
 */
export async function autoCompleteOrders(
  runtime: Pick<Runtime, 'sql' | 'settings' | 'now'>,
  { signal }: { signal: AbortSignal },
): Promise<number> {
  const days = runtime.settings.get(autoCompleteDays);
  if (days === 0) return 0;
  const before = new Date(runtime.now().getTime() - days * dayMs);
  let completed = 0;
  while (!signal.aborted) {
    const moved = await runtime.sql.begin(async (tx) => {
      const due = await selectShippedBefore(tx, before, batch);
      const by = { actor: { type: 'system', id: 0 }, now: runtime.now() } as const;
      return due.length > 0 ? completeOrders(tx, due, 'auto_complete', by) : [];
    });
    // Orders that another worker has completed meanwhile are not moved. The next cron finds what is left.
    if (moved.length === 0) break;
    completed += moved.length;
  }
  return completed;
}
