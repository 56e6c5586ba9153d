import { attrsIn, textsIn } from '@tradepost/catalog';
import { type Locale, labelOf, toWire } from '@tradepost/core';
import { optionsView, pricesView, statusLabels } from '../activity.ts';
import { type ActivityKind, rowPrice } from '../activity-kinds.ts';
import type { ShownRow } from './row-store.ts';

export type RowViewContext = { locale: Locale; iso: (at: Date) => string; fileUrl: (path: string) => string };

/** A row of an activity with its product, for shoppers. */
export const shownRowView = (kind: ActivityKind, row: ShownRow, { locale, iso, fileUrl }: RowViewContext) => ({
  activity_product_id: row.id,
  activity_id: row.activity_id,
  activity_type: row.activity_type,
  activity_type_label: kind.label[locale],
  activity_name: row.activity_name,
  activity_status: row.activity_status,
  activity_status_label: labelOf(statusLabels, row.activity_status, locale),
  activity_start_at: iso(row.start_at),
  activity_end_at: iso(row.end_at),
  ...optionsView(kind, row.options),
  ...{ product_id: row.product_id, sku_id: row.sku_id },
  ...textsIn(row, locale),
  cover: fileUrl(row.cover),
  category_id: row.category_id,
  attrs: JSON.stringify(attrsIn(row.attrs, row.translations, locale)),
  ...{ sales: row.sales, stock: row.stock },
  origin_price: toWire(row.origin_price),
  price: toWire(rowPrice(kind, row)),
  ...pricesView(kind, row),
  limit_per_order: row.limit_per_order,
  total_stock_limit: row.total_stock_limit,
  sold_qty: row.sold_qty,
});
