import type { Statement, Transaction } from '@tradepost/postgres';
import { LRUCache } from 'lru-cache';
import { insertSoldTitles, type NewOrderItem } from '../orders/order-store.ts';

/** The statement that records new titles, and a function to call after the commit. Null when no title is new. */
export type SoldTitles = (
  tx: Transaction,
  items: readonly NewOrderItem[],
) => { statement: Statement; committed(): void } | null;

const rememberedTitles = 50_000;

/**
 * Records the titles that products were sold under, for the search by keyword. This process remembers the titles that it has
 * recorded, so a known title costs one lookup and no statement.
 */
export function openSoldTitles(): SoldTitles {
  const known = new LRUCache<string, true>({ max: rememberedTitles });
  return (tx, items) => {
    const fresh = new Map<string, { product_id: number; title: string }>();
    for (const { product_id, title } of items) {
      const key = `${product_id} ${title}`;
      if (!known.get(key)) fresh.set(key, { product_id, title });
    }
    if (fresh.size === 0) return null;
    return {
      statement: insertSoldTitles(tx, [...fresh.values()]),
      committed() {
        for (const key of fresh.keys()) known.set(key, true);
      },
    };
  };
}
