import type { Statement, Transaction } from '@tradepost/postgres';
import { insertSoldTitles, type NewOrderItem } from '../orders/order-store.ts';

/** The statement that notes titles not noted before, and what to call once it is committed; null when all are. */
export type SoldTitles = (
  tx: Transaction,
  items: readonly NewOrderItem[],
) => { statement: Statement; committed(): void } | null;

const remembered = 50_000;

/** Under which titles goods were sold, for the search by keyword. Nearly always known already: then it costs a look-up. */
export function openSoldTitles(): SoldTitles {
  const known = new Set<string>();
  return (tx, items) => {
    const fresh = new Map<string, { product_id: number; title: string }>();
    for (const { product_id, title } of items) {
      const key = `${product_id} ${title}`;
      if (!known.has(key)) fresh.set(key, { product_id, title });
    }
    if (fresh.size === 0) return null;
    return {
      statement: insertSoldTitles(tx, [...fresh.values()]),
      committed() {
        if (known.size > remembered) known.clear();
        for (const key of fresh.keys()) known.add(key);
      },
    };
  };
}
