import type { Transaction } from '@tradepost/postgres';
import { vipErrors } from '../errors.ts';
import { holdLevel } from '../levels/level-store.ts';
import {
  insertPrice,
  lockPrice,
  type PriceFields,
  type SkuPrice,
  selectProductOf,
  updatePrice,
} from './price-store.ts';

/**
 * Refuses a price of unknown goods or for an unknown level, and a row without a price. A SKU decides the product of its price. Returns
 * the price to write.
 */
async function checkedPrice(tx: Transaction, price: PriceFields): Promise<PriceFields> {
  if (price.vip_price === 0 && price.vip_discount_rate === 0) throw vipErrors.price_needed();
  const product_id = await selectProductOf(tx, price);
  if (product_id === null) throw price.sku_id === 0 ? vipErrors.product_unknown() : vipErrors.sku_unknown();
  if (!(await holdLevel(tx, price.level_id))) throw vipErrors.level_unknown();
  return { ...price, product_id };
}

/** Turns the violation of the key into its refusal. */
async function unique<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof Error && 'constraint_name' in error && error.constraint_name === 'sku_prices_key')
      throw vipErrors.price_exists();
    throw error;
  }
}

export async function addPrice(tx: Transaction, price: PriceFields): Promise<SkuPrice> {
  const checked = await checkedPrice(tx, price);
  return unique(() => insertPrice(tx, checked));
}

/** Changes the given fields of a price. */
export async function changePrice(
  tx: Transaction,
  id: number,
  change: { [K in keyof PriceFields]: PriceFields[K] | undefined },
): Promise<void> {
  const before = await lockPrice(tx, id);
  if (!before) throw vipErrors.price_not_found();
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  let price: PriceFields = { ...before, ...Object.fromEntries(given) };
  const moves = (['product_id', 'sku_id', 'level_id'] as const).some((field) => price[field] !== before[field]);
  // The price of a product that was deleted since can still be switched off.
  if (moves) price = await checkedPrice(tx, price);
  else if (price.vip_price === 0 && price.vip_discount_rate === 0) throw vipErrors.price_needed();
  await unique(() => updatePrice(tx, id, price));
}
