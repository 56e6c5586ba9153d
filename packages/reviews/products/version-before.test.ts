import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openReviewedOrders } from '../testing/reviewed-orders.ts';

/** An instance of the version before reads reviews during a rolling upgrade. */
let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

test('the product page of the version before shows reviews with additions and reply', async () => {
  const orders = await openReviewedOrders(shop);
  const buyer = await shop.shopper();
  const order = await orders.shipped(buyer);
  await orders.review(buyer, order, { content: 'Good', product_score: 4, logistics_score: 5 });
  await orders.review(buyer, order, { mode: 'append', append_content: 'Still good' });
  const productId = order.items[0]!.product_id;
  const { list } = (await shop.call('GET', `/api/v1/products/${productId}/reviews`)).data;
  await shop.call('POST', `/admin/api/reviews/${list[0].id}/reply`, {
    token: orders.staff,
    body: { content: 'Thanks' },
  });

  // The statement of that version, word for word.
  const rows = await shop.database.sql`
    with shelf as (
      select id from catalog.products where id = ${productId} and status = 1
    ), summary as (
      select coalesce(round(avg(product_score), 2), 0)::float8 as avg_product_score,
             coalesce(round(avg(logistics_score), 2), 0)::float8 as avg_logistics_score, count(*)::int as total
      from catalog.reviews where product_id = ${productId}
    ), page as (
      select * from catalog.reviews where product_id = ${productId}
      order by id desc limit ${10} offset ${0}
    )
    select summary.*, page.*, coalesce(u.nickname, '') as user_nickname, coalesce(u.avatar, '') as user_avatar,
      (select coalesce(jsonb_agg(to_jsonb(a) order by a.id), '[]')
       from (select * from catalog.review_appends where review_id = page.id order by id limit ${10}) a)
        as appends,
      (select to_jsonb(r) from catalog.review_replies r where r.review_id = page.id) as admin_reply
    from shelf cross join summary left join page on true left join identity.shopper_names u on u.id = page.user_id
    order by page.id desc`;
  expect(rows).toMatchObject([
    {
      ...{ avg_product_score: 4, avg_logistics_score: 5, total: 1 },
      ...{ id: list[0].id, order_item_id: order.items[0]!.id, user_id: buyer.id, content: 'Good', images: [] },
      appends: [{ content: 'Still good' }],
      admin_reply: { content: 'Thanks' },
    },
  ]);
});
