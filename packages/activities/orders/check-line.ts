import type { AppError } from '@tradepost/core';
import { activityErrors } from '../errors.ts';
import type { LineFacts } from './line-facts-store.ts';

type Line = { readonly sku_id: number; readonly product_id: number };

/** The refusals of `sourceRefusal`, in the order of its checks. */
export const sourceRefusals = [
  activityErrors.activity_line_unknown,
  activityErrors.activity_sku_mismatch,
  activityErrors.activity_product_mismatch,
  activityErrors.activity_inactive,
  activityErrors.activity_not_started,
  activityErrors.activity_ended,
  activityErrors.activity_sold_out,
];
export const quantityRefusals = [activityErrors.activity_order_limit, activityErrors.activity_stock_short];

/** Why the line of a SKU that is for sale cannot be bought in this activity now. Null when it can. */
export function sourceRefusal(row: LineFacts | undefined, line: Line, now: Date): AppError | null {
  if (!row) return activityErrors.activity_line_unknown();
  if (row.sku_id > 0 && row.sku_id !== line.sku_id) return activityErrors.activity_sku_mismatch();
  if (row.product_id !== line.product_id) return activityErrors.activity_product_mismatch();
  if (row.status !== 1) return activityErrors.activity_inactive();
  if (now < row.start_at) return activityErrors.activity_not_started();
  if (now >= row.end_at) return activityErrors.activity_ended();
  if (row.total_stock_limit > 0 && row.sold_qty >= row.total_stock_limit) return activityErrors.activity_sold_out();
  return null;
}

/** Why an order cannot have `qty` pieces of the row, in all its lines together. Null when it can. */
export function quantityRefusal(row: LineFacts, qty: number): AppError | null {
  const { limit_per_order: max, total_stock_limit: cap } = row;
  if (max > 0 && qty > max) return activityErrors.activity_order_limit({ max });
  const left = cap - row.sold_qty;
  if (cap > 0 && qty > left) return activityErrors.activity_stock_short({ left });
  return null;
}
