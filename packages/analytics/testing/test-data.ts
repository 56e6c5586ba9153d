import type { TestData } from '@tradepost/testing/test-data';

/** A past day without orders, the sums of a week with one buyer, and the visits of a day. */
const rows = `
  insert into analytics.order_days (zone, day, orders, paid_orders, sold_orders, sales, refunded_orders, hours, bands, methods)
    values ('Asia/Shanghai', current_date - 3, 0, 0, 0, 0, 0, array_fill(0, array[24]), '{0,0,0,0,0}', '{0,0,0}');
  insert into analytics.windows (days, zone, first_day, last_day, refreshed_at, frequency, new_buyers, age_days)
    values (7, 'Asia/Shanghai', current_date - 7, current_date - 1, now(), '{1,0,0,0}', 1, 0);
  insert into analytics.window_buyers (days, user_id, orders, last_day) values (7, 1, 1, current_date - 1);
  insert into analytics.window_skus (days, sku_id, product_id, qty, revenue) values (7, 1, 1, 3, 300);
  insert into analytics.window_products (days, product_id, qty) values (7, 1, 3);
  insert into analytics.window_categories (days, category_id, qty, revenue, skus) values (7, 0, 3, 300, 1);
  insert into analytics.visit_counts (day, counter, n)
    select current_date - 1, counter, 2 from unnest('{views,visitors,channel:search,device:mobile,bounces}'::text[]) as c (counter);`;

export const testData: TestData = {
  rows,
  auditCases: [
    ['analytics.days', 'an order that does not exist', `update analytics.order_days set orders = 1`],
    ['analytics.days', 'sales without an order', `update analytics.order_days set sales = 100`],
    ['analytics.buyers', 'a buyer in no class', `update analytics.windows set frequency = '{0,0,0,0}'`],
    ['analytics.sums', 'a product without its SKU', `update analytics.window_products set qty = 4`],
    ['analytics.sums', 'a missing category', `delete from analytics.window_categories`],
    [
      'analytics.visitors',
      'a visitor without a channel',
      `delete from analytics.visit_counts where counter like 'channel:%'`,
    ],
    [
      'analytics.visitors',
      'more bounces than visitors',
      `update analytics.visit_counts set n = 3 where counter = 'bounces'`,
    ],
  ],
};
