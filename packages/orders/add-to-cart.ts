import { catalogErrors, selectSkusForSale } from '@tradepost/catalog';
import { type RecordOutcomes, type Sql, writeTransaction } from '@tradepost/runtime';
import { addCartLines, type CartLine } from './cart-store.ts';
import { orderErrors } from './errors.ts';

/** Adds many lines of many shoppers; equal keys add up. A SKU that can not be bought is refused, the others stand. */
export async function addToCarts(
  sql: Sql,
  requests: readonly CartLine[],
  record?: RecordOutcomes<true>,
): Promise<(true | Error)[]> {
  const known = await selectSkusForSale(sql, [...new Set(requests.map((request) => request.sku_id))]);
  const summed = new Map<string, CartLine>();
  const answers = requests.map((request): true | Error => {
    // No activity exists that a line could name.
    if (request.activity_product_id > 0) return orderErrors.activity_not_found();
    if (!known.has(request.sku_id)) return catalogErrors.product_not_found();
    const key = `${request.user_id}/${request.sku_id}/${request.activity_product_id}`;
    const line = summed.get(key);
    if (line) line.qty += request.qty;
    else summed.set(key, { ...request });
    return true;
  });
  if (summed.size === 0) return answers;
  const lines = [...summed.values()];
  if (!record) {
    await addCartLines(sql, lines);
    return answers;
  }
  return writeTransaction(sql, async (tx) => ({
    value: answers,
    last: [addCartLines(tx, lines), ...record(tx, answers)],
  }));
}
