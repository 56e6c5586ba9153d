import type { Maker, MakerContext } from '@tradepost/testing/routes/makers';
import { insertProduct } from '@tradepost/testing/shop';
import { type TestData, withoutConstraints } from '@tradepost/testing/test-data';
import type { ActivityType } from '../activity-kinds.ts';

/**
 * A flash sale of SKU 1 and of all SKUs of product 2. Of the shipped order N3 a case returned one of three pieces. The unpaid N5 has
 * one piece, and N8, which was refunded in full, gave its piece back.
 */
const rows = `
  insert into activities.activities (id, type, name, start_at, end_at) overriding system value
    values (1, 'seckill', 'Sale', now() - interval '1 day', now() + interval '1 day');
  insert into activities.activity_products (id, activity_id, product_id, sku_id, activity_price, total_stock_limit, sold_qty)
    overriding system value values (1, 1, 1, 1, 1000, 10, 2), (2, 1, 2, 0, 500, 10, 1);
  select setval('activities.activities_id_seq', 100), setval('activities.activity_products_id_seq', 100);
  update orders.order_items
    set activity_product_id = case order_id when 3 then 1 else 2 end, activity_id = 1, activity_type = 'seckill', activity_title = 'Sale'
    where order_id in (3, 5, 8);
  update orders.orders set price_steps = coalesce(price_steps, '{}') || '{activity}' where id in (3, 5, 8);
  insert into activities.order_uses (order_id, activity_product_id, qty, returned_qty, created_at)
    values (3, 1, 3, 1, now()), (5, 2, 1, 0, now()), (8, 2, 1, 1, now());
  insert into activities.case_returns (case_id, activity_product_id, order_id, qty, created_at)
    values (1, 1, 3, 1, now()), (2, 2, 8, 1, now());`;

/** Activities far in the future, one after the other, so that they do not overlap with each other or with the examples. */
async function makeActivities({ sql, nextNumber }: MakerContext, type: ActivityType, count: number): Promise<number[]> {
  const first = nextNumber() * 1_000;
  const made = await sql<{ id: number }[]>`
    insert into activities.activities (type, name, start_at, end_at)
    select ${type}, 'Sale ' || n, '2100-01-01'::timestamptz + n * interval '1 hour', '2100-01-01'::timestamptz + (n + 1) * interval '1 hour'
    from generate_series(${first}::int, ${first + count - 1}::int) as n returning id`;
  return made.map(({ id }) => id);
}

/** Rows of an activity that runs, or of a future one when another activity of the type runs. */
const makeRows =
  (type: ActivityType): Maker =>
  async (context, count) => {
    const { shop, sql } = context;
    const { id: productId, sku_ids } = await insertProduct(shop.database, { stocks: Array(count).fill(1_000) });
    const [running] = await sql<{ id: number }[]>`
      select id from activities.activities where type = ${type} and deleted_at is null and now() between start_at and end_at`;
    const activityId = running?.id ?? (await makeActivities(context, type, 1))[0]!;
    const made = await sql<{ id: number }[]>`
      insert into activities.activity_products (activity_id, product_id, sku_id, activity_price, start_price, floor_price)
      select ${activityId}, ${productId}, sku_id, ${type === 'bargain' ? 0 : 500}, ${type === 'bargain' ? 900 : 0},
        ${type === 'bargain' ? 100 : 0}
      from unnest(${sku_ids}::bigint[]) as sku_id returning id`;
    return made.map(({ id }) => id);
  };

/** The makers of one kind: activities and rows, by the paths of their routes. */
const makersOf = (path: string, type: ActivityType): Record<string, Maker> => ({
  [`/admin/api/${path}/activities`]: (context, count) => makeActivities(context, type, count),
  [`/api/v1/${path}/products`]: makeRows(type),
});

export const testData: TestData = {
  rows,
  auditCases: [
    ['activities.sold_qty', 'one too many', `update activities.activity_products set sold_qty = 3 where id = 1`],
    ['activities.sold_qty', 'of a row that is gone', `delete from activities.activity_products where id = 2`],
    [
      'activities.caps',
      'more than the limit',
      `${withoutConstraints('activities.activity_products')}
       update activities.activity_products set total_stock_limit = 1 where id = 1`,
    ],
    [
      'activities.order_uses',
      'an order took less than it has',
      `update activities.order_uses set qty = 2 where order_id = 3;
       update activities.activity_products set sold_qty = 1 where id = 1`,
    ],
    [
      'activities.order_uses',
      'a line was not counted',
      `delete from activities.order_uses where order_id = 5; update activities.activity_products set sold_qty = 0 where id = 2`,
    ],
    [
      'activities.returned',
      'a cancelled order keeps a piece',
      `update activities.order_uses set returned_qty = 0 where order_id = 8;
       update activities.activity_products set sold_qty = 2 where id = 2`,
    ],
    [
      'activities.returned',
      'an open order returned',
      `update activities.order_uses set returned_qty = 1 where order_id = 5;
       update activities.activity_products set sold_qty = 0 where id = 2`,
    ],
    ['activities.returned', 'a case was not counted', `delete from activities.case_returns`],
  ],
  makers: {
    // The `activity_id` of a filter.
    activities: (context, count) => makeActivities(context, 'seckill', count),
    ...makersOf('seckill', 'seckill'),
    ...makersOf('group-buy', 'group_buy'),
    ...makersOf('bargain', 'bargain'),
    '/api/v1/marketing/activity-products': makeRows('seckill'),
  },
};
