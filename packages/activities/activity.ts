import { type Labels, type Locale, labelOf, toWire } from '@tradepost/core';
import type { ActivityKind, ActivityOptions, ActivityType } from './activity-kinds.ts';

export type Activity = {
  id: number;
  type: ActivityType;
  name: string;
  start_at: Date;
  end_at: Date;
  status: 0 | 1;
  options: ActivityOptions;
  created_at: Date;
  updated_at: Date;
};

/** A row of an activity: one SKU, or with `sku_id` 0 all SKUs of the product. Prices are in minor units. */
export type ActivityRow = {
  /** activity_product_id */
  id: number;
  activity_id: number;
  product_id: number;
  sku_id: number;
  activity_price: number;
  start_price: number;
  floor_price: number;
  limit_per_order: number;
  total_stock_limit: number;
  sold_qty: number;
  sort: number;
};

export const statusLabels: Labels = {
  0: { en: 'Inactive', 'zh-CN': '未启用' },
  1: { en: 'Active', 'zh-CN': '已启用' },
};

/** The options of an activity on the wire. An option that the row does not have has its default. */
export const optionsView = (kind: Pick<ActivityKind, 'options'>, options: ActivityOptions): ActivityOptions =>
  Object.fromEntries(
    kind.options.map(({ name, unit, value }) => {
      const stored = options[name] ?? value;
      return [name, unit === 'amount' ? toWire(stored) : stored];
    }),
  );

/** The activity price under both of its names. */
export const pricesView = (
  kind: Pick<ActivityKind, 'priceAlias'>,
  row: Pick<ActivityRow, 'activity_price' | 'start_price' | 'floor_price'>,
) => ({
  activity_price: toWire(row.activity_price),
  ...(kind.priceAlias && { [kind.priceAlias]: toWire(row.activity_price) }),
  start_price: toWire(row.start_price),
  floor_price: toWire(row.floor_price),
});

export function activityView(
  kind: ActivityKind,
  activity: Activity,
  { iso, locale }: { iso: (at: Date) => string; locale: Locale },
) {
  const { id, type, name, status } = activity;
  return {
    ...{ id, type, type_label: kind.label[locale], name },
    start_at: iso(activity.start_at),
    end_at: iso(activity.end_at),
    ...{ status, status_label: labelOf(statusLabels, status, locale) },
    ...optionsView(kind, activity.options),
    created_at: iso(activity.created_at),
    updated_at: iso(activity.updated_at),
  };
}
