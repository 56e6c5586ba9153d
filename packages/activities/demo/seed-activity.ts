import type { DemoSeed } from '@tradepost/module';
import type { Transaction } from '@tradepost/postgres';
import { demoShop, type Runtime } from '@tradepost/runtime';
import { type ActivityKind, defaultOptions } from '../activity-kinds.ts';

/** A product of the demo catalogue, by its title. Its first SKU takes part, or with `all_skus` all of them. */
export type DemoRow = {
  readonly title: string;
  readonly all_skus?: boolean;
  /** Of the price of the SKU: the activity price, or the floor price of a bargain. */
  readonly percent: number;
  readonly limit_per_order: number;
  readonly total_stock_limit: number;
};
export type DemoActivity = { readonly name: string; readonly rows: readonly DemoRow[] };

/** The demo activity runs for so many days. When half of them are over, a start of the shop extends it. */
const days = 30;

async function writeActivity(tx: Transaction, kind: ActivityKind, { name, rows }: DemoActivity): Promise<void> {
  const fixed = kind.prices === 'fixed';
  await tx`
    with made as (
      insert into activities.activities (type, name, start_at, end_at, options)
      values (${kind.type}, ${name}, date_trunc('day', now()), date_trunc('day', now()) + make_interval(days => ${days}),
        ${tx.json(defaultOptions(kind))})
      returning id)
    insert into activities.activity_products (activity_id, product_id, sku_id, activity_price, start_price, floor_price,
      limit_per_order, total_stock_limit, sort)
    select made.id, p.id, case when n.all_skus then 0 else s.id end,
      case when ${fixed} then s.price * n.percent / 100 else 0 end,
      case when ${fixed} then 0 else s.price end,
      case when ${fixed} then 0 else s.price * n.percent / 100 end,
      n.limit_per_order, n.total_stock_limit, 0
    from made
    cross join json_to_recordset(${JSON.stringify(rows)}::text::json)
      as n (title text, all_skus boolean, percent int, limit_per_order int, total_stock_limit int)
    join catalog.product_cards p on p.title = n.title
    cross join lateral (
      select k.id, k.price from catalog.sku_cards k where k.product_id = p.id and k.status = 'active' order by k.id limit 1) as s
    order by p.id`;
}

/** Extends the demo activity, unless another activity of its type has the time. */
async function extendActivity(runtime: Runtime, { type }: ActivityKind, { name }: DemoActivity): Promise<void> {
  if (!runtime.settings.get(demoShop)) return;
  const now = runtime.now();
  await runtime.sql`
    update activities.activities a
    set end_at = ${now}::timestamptz + make_interval(days => ${days}), updated_at = ${now}
    where a.type = ${type} and a.name = ${name} and a.deleted_at is null
      and a.end_at < ${now}::timestamptz + make_interval(days => ${days / 2})
      and not exists (
        select from activities.activities o
        where o.type = a.type and o.id <> a.id and o.deleted_at is null
          and o.end_at > a.end_at and o.start_at < ${now}::timestamptz + make_interval(days => ${days}))`;
}

/** A running activity of a kind in the demo shop, with some products of its catalogue. */
export const activityDemo = (kind: ActivityKind, activity: DemoActivity): DemoSeed => ({
  async write(tx) {
    await writeActivity(tx, kind, activity);
    return {};
  },
  start: (runtime) => extendActivity(runtime, kind, activity),
});
