import { catalogErrors, selectSkusForSale } from '@tradepost/catalog';
import { type Sql, writeTransaction } from '@tradepost/postgres';
import type { RecordOutcomes } from '@tradepost/runtime';
import { orderErrors } from '../errors.ts';
import { maxLines } from '../limits.ts';
import type { CartActivities } from './cart-activities.ts';
import { addCartLines, type CartKey, type CartLine } from './cart-store.ts';

const keyOf = ({ user_id, sku_id, activity_product_id }: CartKey) => `${user_id}/${sku_id}/${activity_product_id}`;

/** The requests whose activity does not take their line, with the reasons. Ordinary lines send no statement. */
async function refusedActivities(sql: Sql, activities: CartActivities, requests: readonly CartLine[]) {
  const lines = requests.filter((request) => request.activity_product_id > 0);
  if (lines.length === 0) return new Map<CartLine, Error>();
  const refusals = await activities.check(sql, lines);
  return new Map(lines.flatMap((line, index) => (refusals[index] ? [[line, refusals[index]] as const] : [])));
}

/**
 * Adds lines to the carts of many shoppers. Quantities of the same line are added up. A line that is not for sale or does not
 * fit into the cart is refused; the other lines are added.
 */
export async function addToCarts(
  { sql, activities }: { sql: Sql; activities: CartActivities },
  requests: readonly CartLine[],
  record?: RecordOutcomes<true>,
): Promise<(true | Error)[]> {
  const [known, refused] = await Promise.all([
    selectSkusForSale(sql, [...new Set(requests.map((request) => request.sku_id))]),
    refusedActivities(sql, activities, requests),
  ]);
  const summed = new Map<string, CartLine>();
  const checked = requests.map((request): CartKey | Error => {
    if (!known.has(request.sku_id)) return catalogErrors.product_not_found();
    const refusal = refused.get(request);
    if (refusal) return refusal;
    const line = summed.get(keyOf(request));
    if (line) line.qty += request.qty;
    else summed.set(keyOf(request), { ...request });
    return request;
  });
  const lines = [...summed.values()];
  const outcomesOf = (added: readonly CartKey[]) => {
    const written = new Set(added.map(keyOf));
    return checked.map((request): true | Error => {
      if (request instanceof Error) return request;
      return written.has(keyOf(request)) || orderErrors.cart_full({ max: maxLines });
    });
  };
  if (summed.size === 0) return outcomesOf([]);
  if (!record) return outcomesOf(await addCartLines(sql, lines));
  return writeTransaction(sql, async (tx) => {
    const outcomes = outcomesOf(await addCartLines(tx, lines));
    return { value: outcomes, last: record(tx, outcomes) };
  });
}
