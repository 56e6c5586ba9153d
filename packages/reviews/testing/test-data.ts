import type { TestData } from '@tradepost/testing/test-data';

/** The only line of the shipped order has a review with an addition and a reply. */
const rows = `
  insert into reviews.reviews (id, order_id, order_item_id, order_no, product_id, user_id, product_score, logistics_score, content)
    overriding system value
    select 1, 3, id, 'N3', 1, 2, 5, 4, 'Sturdy' from orders.order_items where order_id = 3;
  insert into reviews.product_summaries (product_id, total, product_score_sum, logistics_score_sum) values (1, 1, 5, 4);
  insert into reviews.review_appends (review_id, user_id, content) values (1, 2, 'Still sturdy');
  insert into reviews.review_replies (review_id, admin_id, content) values (1, 1, 'Thanks');`;

/** Moves the shipped order as its reviews do. */
const completed = `
  update orders.orders set status = 4 where id = 3;
  insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type) values (3, 3, 4, 'reviewed', 'user');`;

export const testData: TestData = {
  rows,
  auditCases: [
    ['reviews.summaries', 'one is missing', `delete from reviews.product_summaries`],
    ['reviews.summaries', 'an edit was not added', `update reviews.reviews set product_score = 1`],
    [
      'reviews.summaries',
      'of a product without reviews',
      `insert into reviews.product_summaries (product_id, total, product_score_sum, logistics_score_sum) values (2, 1, 5, 5)`,
    ],
    ['reviews.lines', 'of another order', `update reviews.reviews set order_id = 2`],
    ['reviews.lines', 'of another shopper', `update reviews.reviews set user_id = 1`, ['reviews.append_authors']],
    [
      'reviews.lines',
      'of another product',
      `update reviews.reviews set product_id = 2; update reviews.product_summaries set product_id = 2`,
    ],
    ['reviews.append_authors', 'by another shopper', `update reviews.review_appends set user_id = 1`],
    [
      'reviews.completed',
      'a line without a review',
      `${completed} delete from reviews.reviews; delete from reviews.product_summaries`,
    ],
  ],
  makers: {
    // Reviews of lines of new orders.
    reviews: async ({ make, owner, send, sql }, count, options) => {
      for (const order_id of await make('orders', count, { ...options, large: false, order: 'shipped' }))
        await send('POST', `/api/v1/orders/${order_id}/review`, owner.token, { content: 'Good' });
      const rows = await sql<{ id: number }[]>`select id from reviews.reviews order by id desc limit ${count}`;
      return rows.map((row) => row.id);
    },
    // Lines of the newest order of the owner, which the path of the request names.
    order_items: ({ make }, count, options) => make('items', count, options),
  },
};
