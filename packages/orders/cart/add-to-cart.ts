import { catalogErrors, selectSkusForSale } from '@tradepost/catalog';
import { type Sql, writeTransaction } from '@tradepost/postgres';
import type { RecordOutcomes } from '@tradepost/runtime';
import { orderErrors } from '../errors.ts';
import { maxLines } from '../limits.ts';
import { addCartLines, type CartKey, type CartLine } from './cart-store.ts';

const keyOf = ({ user_id, sku_id, activity_product_id }: CartKey) => `${user_id}/${sku_id}/${activity_product_id}`;

/** Adds many lines of many shoppers; equal keys add up. What can not be bought or does not fit is refused, the others stand. */
export async function addToCarts(
  sql: Sql,
  requests: readonly CartLine[],
  record?: RecordOutcomes<true>,
): Promise<(true | Error)[]> {
  const known = await selectSkusForSale(sql, [...new Set(requests.map((request) => request.sku_id))]);
  const summed = new Map<string, CartLine>();
  const checked = requests.map((request): CartKey | Error => {
    // No activity exists that a line could name.
    if (request.activity_product_id > 0) return orderErrors.activity_not_found();
    if (!known.has(request.sku_id)) return catalogErrors.product_not_found();
    const line = summed.get(keyOf(request));
    if (line) line.qty += request.qty;
    else summed.set(keyOf(request), { ...request });
    return request;
  });
  const lines = [...summed.values()];
  const answersTo = (added: readonly CartKey[]) => {
    const written = new Set(added.map(keyOf));
    return checked.map((request): true | Error => {
      if (request instanceof Error) return request;
      return written.has(keyOf(request)) || orderErrors.cart_full({ max: maxLines });
    });
  };
  if (summed.size === 0) return answersTo([]);
  if (!record) return answersTo(await addCartLines(sql, lines));
  return writeTransaction(sql, async (tx) => {
    const answers = answersTo(await addCartLines(tx, lines));
    return { value: answers, last: record(tx, answers) };
  });
}
