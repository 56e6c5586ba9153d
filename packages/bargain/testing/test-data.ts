import type { Maker, MakerContext } from '@tradepost/testing/routes/makers';
import { makeRunningOffer, newestOffer } from '@tradepost/testing/running-offer';
import { type TestData, withoutConstraints } from '@tradepost/testing/test-data';

/** A bargain for SKU 2. The first one was helped to its floor and bought with the paid order N2; the second one is open. */
const rows = `
  insert into activities.activities (id, type, name, start_at, end_at) overriding system value
    values (3, 'bargain', 'Mugs to bargain for', now() - interval '1 day', now() + interval '1 day');
  insert into activities.activity_products (id, activity_id, product_id, sku_id, start_price, floor_price, sold_qty)
    overriding system value values (12, 3, 1, 2, 900, 500, 1);
  update orders.order_items
    set activity_product_id = 12, activity_id = 3, activity_type = 'bargain', activity_title = 'Mugs to bargain for'
    where order_id = 2 and sku_id = 2;
  update orders.orders set price_steps = coalesce(price_steps, '{}') || '{activity,bargain}' where id = 2;
  insert into activities.order_uses (order_id, activity_product_id, qty, created_at) values (2, 12, 1, now());
  insert into bargain.bargains (id, activity_id, activity_product_id, activity_name, product_id, sku_id, owner_id, start_price,
      floor_price, current_price, min_cut, max_cut, max_helpers, help_count, status, expire_at, created_at, ended_at, order_id)
    overriding system value
    values (1, 3, 12, 'Mugs to bargain for', 1, 2, 1, 900, 500, 500, 1, 1000, 50, 1, 'success', now() + interval '1 day', now(), now(), 2),
           (2, 3, 12, 'Mugs to bargain for', 1, 2, 2, 900, 500, 800, 1, 1000, 50, 1, 'pending', now() + interval '1 day', now(), null, null);
  insert into bargain.helps (bargain_id, user_id, cut_amount, created_at) values (1, 2, 400, now()), (2, 1, 100, now());
  select setval('bargain.bargains_id_seq', 100);`;

/** Open bargains of this shopper, each for a product of its own. */
async function makeBargains({ sql }: MakerContext, ownerId: number, count: number): Promise<number[]> {
  const made = await sql<{ id: number }[]>`
    insert into bargain.bargains (activity_id, activity_product_id, activity_name, product_id, sku_id, owner_id, start_price,
      floor_price, current_price, min_cut, max_cut, max_helpers, expire_at, created_at)
    select 1, (select coalesce(max(activity_product_id), 0) from bargain.bargains) + n + 1000000, 'Running', 1, 1, ${ownerId},
      900, 500, 900, 1, 100, 50, now() + interval '1 day', now()
    from generate_series(1, ${count}::int) as n returning id`;
  return made.map(({ id }) => id);
}
const ofOwner: Maker = (context, count) => makeBargains(context, context.owner.id, count);
/** The owner of the objects helps another shopper. */
const ofAnother: Maker = async (context, count) => makeBargains(context, (await context.shop.shopper()).id, count);

const open = 'POST /api/v1/bargain/orders';

export const testData: TestData = {
  rows,
  auditCases: [
    ['bargain.cuts', 'a help is missing', `delete from bargain.helps where bargain_id = 2`],
    ['bargain.cuts', 'a cut is another one', `update bargain.helps set cut_amount = 99 where bargain_id = 2`],
    ['bargain.cuts', 'a help was counted twice', `update bargain.bargains set help_count = 2 where id = 2`],
    [
      'bargain.floor',
      'open at its floor',
      `${withoutConstraints('bargain.bargains')}
       update bargain.bargains set status = 'pending', ended_at = null, order_id = null where id = 1`,
    ],
    [
      'bargain.floor',
      'below its floor',
      `${withoutConstraints('bargain.bargains')} update bargain.bargains set current_price = 400 where id = 2;
       update bargain.helps set cut_amount = 500 where bargain_id = 2`,
    ],
    ['bargain.helpers', 'the owner has helped', `update bargain.helps set user_id = 2 where bargain_id = 2`],
    ['bargain.bought', 'by another shopper', `update bargain.bargains set owner_id = 99 where id = 1`],
    ['bargain.bought', 'with an order without it', `update bargain.bargains set order_id = 6 where id = 1`],
    ['bargain.bought', 'with an order that does not exist', `update bargain.bargains set order_id = 99 where id = 1`],
    [
      'bargain.bought',
      'with a cancelled order',
      `update bargain.bargains set owner_id = 2, order_id = 8, activity_product_id = 2, sku_id = 3 where id = 1;
       update bargain.helps set user_id = 1 where bargain_id = 1`,
    ],
    [
      'bargain.expired',
      'an open one',
      `update bargain.bargains set expire_at = now() - interval '1 hour' where id = 2`,
    ],
  ],
  makers: {
    '/api/v1/bargain/orders': ofOwner,
    '/admin/api/bargain/orders': ofOwner,
    [`${open} activity_id`]: async (context) => [(await makeRunningOffer(context, 'bargain')).activity_id],
    [`${open} product_id`]: async (context) => [(await newestOffer(context, 'bargain')).product_id],
    [`${open} sku_id`]: async (context) => [(await newestOffer(context, 'bargain')).sku_id],
    [`${open}/:id/help id`]: ofAnother,
  },
};
