import { type AppError, type Locale, maxMinor } from '@tradepost/core';
import type { Transaction } from '@tradepost/postgres';
import { catalogErrors } from '../errors.ts';
import {
  type Adjustment,
  adjustPrices,
  lockProductIds,
  lockSkusOf,
  markDeleted,
  type PriceOutcome,
  type Scope,
  setCategory,
  setStatus,
} from './batch-store.ts';
import { holdCategory } from './product-store.ts';

/** The result of a change of many products: the ids that changed, and the reason for each of the others. */
export type BatchResult = { success_ids: number[]; fail: { id: number; reason: string }[] };

/** The result in the order of the given ids, each once. */
function resultOf(
  ids: readonly number[],
  done: readonly number[],
  locale: Locale,
  why: (id: number) => AppError = () => catalogErrors.product_not_found(),
): BatchResult {
  const succeeded = new Set(done);
  const distinct = [...new Set(ids)];
  return {
    success_ids: distinct.filter((id) => succeeded.has(id)),
    fail: distinct.filter((id) => !succeeded.has(id)).map((id) => ({ id, reason: why(id).messageIn(locale) })),
  };
}

export async function changeStatus(
  tx: Transaction,
  ids: readonly number[],
  status: number,
  locale: Locale,
): Promise<BatchResult> {
  const found = await lockProductIds(tx, ids);
  const known = new Set(found);
  return resultOf(ids, await setStatus(tx, found, status), locale, (id) =>
    known.has(id) ? catalogErrors.price_missing({ field: 'price' }) : catalogErrors.product_not_found(),
  );
}

/** Refuses a category that does not exist. 0 means no category. */
export async function changeCategory(
  tx: Transaction,
  ids: readonly number[],
  categoryId: number,
  locale: Locale,
): Promise<BatchResult> {
  const found = await lockProductIds(tx, ids);
  if (categoryId > 0 && !(await holdCategory(tx, categoryId)))
    throw catalogErrors.no_such_category({ field: 'category_id' });
  await setCategory(tx, found, categoryId);
  return resultOf(ids, found, locale);
}

function priceRefusal(outcome: PriceOutcome | undefined): AppError {
  if (outcome === 'missing') return catalogErrors.price_missing({ field: 'price' });
  return outcome === undefined ? catalogErrors.product_not_found() : catalogErrors.price_too_large();
}

/** A percentage must not be applied twice: the outcome is stored in the same transaction. */
export async function changePrices(
  tx: Transaction,
  ids: readonly number[],
  adjustment: Adjustment & { scope: Scope },
  locale: Locale,
): Promise<BatchResult> {
  const found = await lockProductIds(tx, ids);
  await lockSkusOf(tx, found);
  const outcomes = await adjustPrices(tx, found, adjustment, adjustment.scope, maxMinor);
  const changed = found.filter((id) => outcomes.get(id) === 'done');
  return resultOf(ids, changed, locale, (id) => priceRefusal(outcomes.get(id)));
}

/** Refuses while an open order has reserved stock of one of the products. */
export async function deleteProducts(tx: Transaction, ids: readonly number[]): Promise<void> {
  const found = await lockProductIds(tx, ids);
  if (found.length < new Set(ids).size) throw catalogErrors.product_not_found();
  if ((await lockSkusOf(tx, found)).size > 0) throw catalogErrors.product_in_orders();
  await markDeleted(tx, found);
}
