import { toWire } from '@tradepost/core';
import type { ActivityLine, CartActivities } from '@tradepost/orders';
import type { Queryable } from '@tradepost/postgres';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { type ActivityKind, rowPrice } from '../activity-kinds.ts';
import { isoFor } from '../views.ts';
import { selectSkuProducts } from './cart-lines-store.ts';
import { sourceRefusal, sourceRefusals } from './check-line.ts';
import { selectLineFacts } from './line-facts-store.ts';

/** What carts know of activities. A cart has no limits of quantity: an order or its quote checks them. */
export function cartEntry({ settings, now }: Runtime, kinds: readonly ActivityKind[]): CartActivities {
  const kindOf = new Map(kinds.map((kind) => [kind.type, kind]));
  const types = kinds.map(({ type }) => type);
  const factsOf = async (sql: Queryable, lines: readonly ActivityLine[]) => {
    const ids = [...new Set(lines.map((line) => line.activity_product_id))];
    const [rows, skus] = await Promise.all([
      selectLineFacts(sql, ids, { types, lock: false }),
      selectSkuProducts(sql, lines),
    ]);
    return lines.map((line) => ({ line, row: rows.get(line.activity_product_id), sku: skus.get(line.sku_id) }));
  };
  /** The prices that the shopper has instead of those of the rows, by line. */
  const ownPricesOf = async (sql: Queryable, userId: number, facts: Awaited<ReturnType<typeof factsOf>>) => {
    const own = new Map<ActivityLine, number>();
    await Promise.all(
      kinds.map(async ({ type, ownPrices }) => {
        const lines = facts.filter(({ row }) => row?.type === type).map(({ line }) => line);
        if (!ownPrices || lines.length === 0) return;
        const prices = await ownPrices(sql, userId, lines);
        lines.forEach((line, index) => {
          const price = prices[index];
          if (price !== undefined) own.set(line, price);
        });
      }),
    );
    return own;
  };
  return {
    statements: { check: 2, snapshots: 2 + kinds.filter(({ ownPrices }) => ownPrices).length },
    refuses: sourceRefusals,
    async check(sql, lines) {
      const facts = await factsOf(sql, lines);
      return facts.map(({ line, row, sku }) =>
        sourceRefusal(row, { sku_id: line.sku_id, product_id: sku?.product_id ?? 0 }, now()),
      );
    },
    async snapshots(sql, userId, lines) {
      const iso = isoFor(settings.get(timeZone));
      const facts = await factsOf(sql, lines);
      const own = await ownPricesOf(sql, userId, facts);
      return facts.map(({ line, row, sku }) =>
        row && sku
          ? {
              ...{ activity_product_id: row.id, activity_id: row.activity_id },
              ...{ activity_type: row.type, activity_name: row.name },
              price: toWire(own.get(line) ?? rowPrice(kindOf.get(row.type)!, row)),
              origin_price: toWire(sku.price),
              activity_start_at: iso(row.start_at),
              activity_end_at: iso(row.end_at),
            }
          : null,
      );
    },
  };
}
