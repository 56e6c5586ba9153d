import { endAfterSale, type OrderWithLines, orderStatus, selectRefundable } from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import type { Operator } from '../cases/case.ts';
import { type LineUse, linesOf, selectOrderCases } from '../cases/case-store.ts';

/** A locked order of which a case has just ended, and who ended it. */
export type EndedOrder = { readonly order: OrderWithLines; readonly operator: Operator };

/** Those of these orders of which all pieces and all money were refunded. */
async function selectFullyRefunded(
  tx: Transaction,
  orders: readonly OrderWithLines[],
  lines: ReadonlyMap<number, LineUse>,
): Promise<ReadonlySet<number>> {
  const candidates = orders.filter((order) =>
    order.items.every(({ id, qty }) => (lines.get(id)?.refunded ?? 0) >= qty),
  );
  if (candidates.length === 0) return new Set();
  const ids = candidates.map((order) => order.id);
  const money = await selectRefundable(tx, ids);
  return new Set(ids.filter((id) => money.get(id)!.refunded >= money.get(id)!.paid));
}

/**
 * Gives orders without an open case the status back that they had before. An order that was never shipped and that was
 * refunded in full is cancelled instead: there is nothing left to ship.
 */
export async function endOrders(tx: Transaction, ended: readonly EndedOrder[], now: Date): Promise<void> {
  const byId = new Map(ended.map((row) => [row.order.id, row]));
  const cases = await selectOrderCases(tx, [...byId.keys()]);
  const over = cases.filter((row) => row.in_progress_count === 0);
  if (over.length === 0) return;
  const unshipped = over.filter((row) => row.status_before === orderStatus.paid);
  const refunded = await selectFullyRefunded(
    tx,
    unshipped.map((row) => byId.get(row.order_id)!.order),
    linesOf(unshipped),
  );
  const rows = over.map(({ order_id, status_before }) => {
    const to = refunded.has(order_id) ? orderStatus.cancelled : status_before;
    return { order_id, to: to as 2 | 3 | 4 | 6, operator: byId.get(order_id)!.operator };
  });
  const byOperator = Map.groupBy(rows, ({ operator }) => `${operator.type}:${operator.id}`);
  for (const group of byOperator.values()) await endAfterSale(tx, group, { actor: group[0]!.operator, now });
}
