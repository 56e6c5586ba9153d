import type { PriceStep } from '@tradepost/pricing';
import { recordEvents } from '@tradepost/runtime';
import { activitySoldOut } from '../activity-events.ts';
import { type ActivityKind, rowPrice } from '../activity-kinds.ts';
import { quantityRefusal, quantityRefusals, sourceRefusal, sourceRefusals } from './check-line.ts';
import { type LineFacts, selectLineFacts } from './line-facts-store.ts';
import { insertUses, lockUsedRows, returnUses } from './use-store.ts';

type Facts = ReadonlyMap<number, LineFacts>;
/** The rows that an order takes, with the pieces of all its lines. */
type Use = readonly { readonly row: LineFacts; readonly qty: number }[];

/**
 * Gives lines with an `activity_product_id` the price of their activity, and counts what is sold. Limits per order and in total count
 * all lines of an order with the same row. A bargain gets its start price here.
 */
export function activityStep(kinds: readonly ActivityKind[]): PriceStep<Facts, Use> {
  const kindOf = new Map(kinds.map((kind) => [kind.type, kind]));
  const types = kinds.map(({ type }) => type);
  return {
    name: 'activity',
    priority: 10,
    refuses: [...sourceRefusals, ...quantityRefusals],
    statements: { load: 1, write: 2, release: 2 },
    load: (sql, { activityProductIds, lock }) => selectLineFacts(sql, activityProductIds, { types, lock }),
    apply(pricing, facts) {
      const taken = new Map<LineFacts, number>();
      pricing.request.lines.forEach((line, index) => {
        if (line.activity_product_id === 0) return;
        const row = facts.get(line.activity_product_id);
        const refusal = sourceRefusal(row, line, pricing.now);
        if (refusal || !row) throw refusal;
        taken.set(row, (taken.get(row) ?? 0) + line.qty);
        const activity = { activity_id: row.activity_id, activity_type: row.type, activity_title: row.name };
        pricing.setActivity(index, rowPrice(kindOf.get(row.type)!, row), activity);
      });
      for (const [row, qty] of taken) {
        const refusal = quantityRefusal(row, qty);
        if (refusal) throw refusal;
      }
      return taken.size > 0 ? [...taken].map(([row, qty]) => ({ row, qty })) : undefined;
    },
    take(use) {
      for (const { row, qty } of use) row.sold_qty += qty;
    },
    write(tx, uses, now) {
      const rows = uses.flatMap(({ order, use }) =>
        use.map(({ row, qty }) => ({ order_id: order.id, activity_product_id: row.id, qty })),
      );
      const soldOut = new Set(
        uses.flatMap(({ use }) => use.flatMap(({ row }) => (row.sold_qty === row.total_stock_limit ? [row] : []))),
      );
      const facts = [...soldOut].map((row) => ({
        ...{ activity_product_id: row.id, activity_id: row.activity_id },
        ...{ activity_type: row.type, activity_name: row.name },
        ...{ product_id: row.product_id, sku_id: row.sku_id, total_stock_limit: row.total_stock_limit },
      }));
      return [insertUses(tx, rows, now), ...(facts.length > 0 ? [recordEvents(tx, activitySoldOut, facts, now)] : [])];
    },
    release(tx, orders) {
      const ids = orders.map(({ id }) => id);
      return [lockUsedRows(tx, ids), returnUses(tx, ids)];
    },
  };
}
