import { toMinor } from '@tradepost/core';
import type { Transaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import type { ActivityKind } from '../activity-kinds.ts';
import { activityErrors } from '../errors.ts';
import type { RowInput } from '../schemas.ts';
import { lockActivity } from './activity-store.ts';
import { lockRows, type NewRow, removeRows, type StoredRow, selectUnknownGoods, upsertRows } from './row-store.ts';

type Goods = Pick<NewRow, 'product_id' | 'sku_id'>;
const keyOf = ({ product_id, sku_id }: Goods) => `${product_id}/${sku_id}`;
const goodsOf = ({ product_id, sku_id }: Goods) => ({ product_id, sku_id });
const minor = (amount: number | undefined) => toMinor(amount ?? 0);

/** The refusals of `replaceRows`. */
export const rowRefusals = [
  activityErrors.activity_unknown,
  activityErrors.row_twice,
  activityErrors.row_without_price,
  activityErrors.floor_above_start,
  activityErrors.row_goods_unknown,
  activityErrors.limit_below_sold,
];

/**
 * The activity price of a row, and the name under which it was sent. Both families of console pages send back what they read, and
 * each changes the price under its own name. With both names the price that differs from the stored one counts; for a new row, the
 * one that is not 0.
 */
function activityPrice({ priceAlias }: ActivityKind, row: RowInput, stored: StoredRow | undefined) {
  const named = { field: 'activity_price', price: minor(row.activity_price) };
  if (!priceAlias || row[priceAlias] === undefined) return named;
  const alias = { field: priceAlias, price: minor(row[priceAlias]) };
  if (row.activity_price === undefined) return alias;
  return named.price === (stored?.activity_price ?? 0) ? alias : named;
}

function pricesOf(kind: ActivityKind, row: RowInput, stored: StoredRow | undefined) {
  const refuseFree = (field: string) => activityErrors.row_without_price({ field, ...goodsOf(row) });
  if (kind.prices === 'fixed') {
    const { field, price } = activityPrice(kind, row, stored);
    if (price === 0) throw refuseFree(field);
    return { activity_price: price, start_price: 0, floor_price: 0 };
  }
  const start_price = minor(row.start_price);
  const floor_price = minor(row.floor_price);
  if (start_price === 0) throw refuseFree('start_price');
  if (floor_price === 0) throw refuseFree('floor_price');
  if (floor_price > start_price) throw activityErrors.floor_above_start(goodsOf(row));
  return { activity_price: 0, start_price, floor_price };
}

/**
 * Replaces all rows of an activity; an empty array clears it. A SKU that stays, or that comes back, keeps its id and what was sold.
 * A row that stays may be of a product that was deleted since, so that a console can send back what it read.
 */
export async function replaceRows(
  tx: Transaction,
  { kind, runtime }: { kind: ActivityKind; runtime: Pick<Runtime, 'now'> },
  activityId: number,
  rows: readonly RowInput[],
): Promise<void> {
  if (!(await lockActivity(tx, kind.type, activityId))) throw activityErrors.activity_unknown();
  const stored = await lockRows(tx, activityId);
  const storedOf = new Map(stored.map((row) => [keyOf(row), row]));
  const wanted = new Map<string, NewRow>();
  for (const row of rows) {
    const key = keyOf(row);
    if (wanted.has(key)) throw activityErrors.row_twice(goodsOf(row));
    const { limit_per_order, total_stock_limit, sort } = row;
    const before = storedOf.get(key);
    const sold = before?.sold_qty ?? 0;
    if (total_stock_limit > 0 && total_stock_limit < sold)
      throw activityErrors.limit_below_sold({ sold, ...goodsOf(row) });
    wanted.set(key, { ...goodsOf(row), ...pricesOf(kind, row, before), limit_per_order, total_stock_limit, sort });
  }
  const kept = [...wanted.values()];
  const added = kept.filter((row) => storedOf.get(keyOf(row))?.is_removed !== false);
  const unknown = await selectUnknownGoods(tx, added);
  if (unknown) throw activityErrors.row_goods_unknown(goodsOf(unknown));
  const now = runtime.now();
  await upsertRows(tx, activityId, kept, now);
  const gone = stored.filter((row) => !wanted.has(keyOf(row)));
  await removeRows(
    tx,
    gone.map((row) => row.id),
    now,
  );
}
