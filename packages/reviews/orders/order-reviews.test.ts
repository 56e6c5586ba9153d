import { completeOrders } from '@tradepost/orders';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { chinese, contract, expectFields } from '@tradepost/testing/routes/contract';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reviewFiles } from '../file-references.ts';
import { openReviewedOrders } from '../testing/reviewed-orders.ts';

/** Shoppers review the lines of their orders. */
let shop: Shop;
let orders: Awaited<ReturnType<typeof openReviewedOrders>>;
beforeAll(async () => {
  shop = await openShop();
  orders = await openReviewedOrders(shop);
});
afterAll(async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
  await shop?.close();
});

const rowsOf = (orderId: number) => shop.database.sql<
  { order_item_id: number; product_score: number; logistics_score: number; content: string; images: string[] }[]
>`
  select order_item_id, product_score, logistics_score, content, images from reviews.reviews
  where order_id = ${orderId} order by order_item_id`;

describe('the state of the reviews of an order', () => {
  test('a shipped order without reviews: everything can be created, nothing edited', async () => {
    const ann = await shop.shopper();
    const order = await orders.shipped(ann, 2);
    const meta = await orders.meta(ann, order);
    expectFields(meta, contract.reviewMeta);
    for (const option of meta.options) expectFields(option, contract.reviewOption);
    expect(meta).toMatchObject({
      ...{ order_id: order.id, order_no: order.order_no, logistics_score: 5 },
      ...{ can_create: true, can_edit: false, can_append: false },
    });
    expect(meta.options).toEqual(
      order.items.map((item) => ({
        ...{ order_item_id: item.id, review_id: 0, has_review: false, product_id: item.product_id },
        ...{ product_title: 'Enamel mug', product_cover: '', product_score: 5, logistics_score: 5 },
        ...{ content: '', images: [] },
      })),
    );
  });

  test('can_create, can_edit and can_append say what the next request may do', async () => {
    const ann = await shop.shopper();
    const order = await orders.shipped(ann, 2);
    const [first, second] = order.items;
    const may = async () => {
      const { can_create, can_edit, can_append } = await orders.meta(ann, order);
      return [can_create, can_edit, can_append];
    };
    const line = { order_item_id: first!.id, product_score: 4, content: 'Good', images: ['/uploads/a.png'] };
    await orders.review(ann, order, { mode: 'create', logistics_score: 3, items: [line] });
    expect(await may()).toEqual([true, true, true]);
    const meta = await orders.meta(ann, order);
    expect(meta.logistics_score).toBe(3);
    expect(meta.options[0]).toMatchObject({
      ...{ has_review: true, product_score: 4, logistics_score: 3, content: 'Good' },
      images: [`${shop.url}/uploads/a.png`],
    });
    expect(meta.options[0].review_id).toBeGreaterThan(0);
    await orders.review(ann, order, { items: [{ order_item_id: second!.id }] });
    expect(await may()).toEqual([false, true, true]);
    await shop.database.sql`
      insert into reviews.review_appends (review_id, user_id, content)
      select r.id, ${ann.id}, 'again' from reviews.reviews r cross join generate_series(1, 20) where r.order_id = ${order.id}`;
    expect(await may()).toEqual([false, true, false]);
  });

  test('an unpaid, a paid and a cancelled order can not be reviewed', async () => {
    const ann = await shop.shopper();
    const unpaid = await orders.placed(ann);
    const paid = await orders.paid(ann);
    const cancelled = await orders.placed(ann);
    await shop.call('POST', `/api/v1/orders/${cancelled.id}/cancel`, { token: ann.token });
    for (const order of [unpaid, paid, cancelled]) {
      expect(await orders.meta(ann, order)).toMatchObject({ can_create: false, can_edit: false, can_append: false });
      for (const mode of ['create', 'edit', 'append'])
        expect(
          orders.refusal(await orders.review(ann, order, { mode, content: 'x', append_content: 'x' })),
          `${mode}`,
        ).toEqual([500, 'Cannot review in current status']);
    }
  });

  test('the order of another shopper is not found, and nothing of it changes', async () => {
    const ann = await shop.shopper();
    const bob = await shop.shopper();
    const order = await orders.shipped(ann);
    expect(await shop.call('GET', `/api/v1/orders/${order.id}/review`, { token: bob.token })).toMatchObject({
      code: 404,
      message: 'Order not found',
    });
    for (const mode of ['create', 'edit', 'append'])
      expect(orders.refusal(await orders.review(bob, order, { mode, content: 'x', append_content: 'x' }))).toEqual([
        404,
        'Order not found',
      ]);
    expect(await rowsOf(order.id)).toEqual([]);
  });
});

describe('writing', () => {
  test('create: scores out of range count as 5, pictures are kept once and as paths', async () => {
    const ann = await shop.shopper();
    const order = await orders.shipped(ann, 3);
    const [a, b, c] = order.items.map((item) => item.id);
    const images = [' /uploads/x.png ', `${shop.url}/uploads/x.png`, '', 'https://cdn.example/y.png'];
    const answer = await orders.review(ann, order, {
      mode: 'create',
      logistics_score: 0,
      items: [
        { order_item_id: a, product_score: 1, content: '  Chipped  ', images },
        { order_item_id: b, product_score: 6, content: '' },
        { order_item_id: c, product_score: -1 },
      ],
    });
    expect(answer).toMatchObject({ code: 0, data: null });
    expect(await rowsOf(order.id)).toEqual([
      {
        ...{ order_item_id: a, product_score: 1, logistics_score: 5, content: 'Chipped' },
        images: ['/uploads/x.png', 'https://cdn.example/y.png'],
      },
      { order_item_id: b, product_score: 5, logistics_score: 5, content: '', images: [] },
      { order_item_id: c, product_score: 5, logistics_score: 5, content: '', images: [] },
    ]);
  });

  test('without items the content is about all lines; edit replaces it and counts', async () => {
    const ann = await shop.shopper();
    const order = await orders.shipped(ann, 2);
    await orders.review(ann, order, { content: 'All good', images: ['/uploads/z.png'], product_score: 4 });
    expect((await rowsOf(order.id)).map((row) => [row.content, row.images, row.product_score])).toEqual([
      ['All good', ['/uploads/z.png'], 4],
      ['All good', ['/uploads/z.png'], 4],
    ]);
    await orders.review(ann, order, { mode: 'edit', logistics_score: 2, content: 'Not so good', product_score: 2 });
    await orders.review(ann, order, {
      mode: 'edit',
      items: [{ order_item_id: order.items[0]!.id, product_score: 3, content: 'Better' }],
    });
    const { data } = await shop.call('GET', `/api/v1/orders/${order.id}`, { token: ann.token });
    const reviews = data.items.map((item: { review: object }) => item.review);
    for (const review of reviews) expectFields(review, contract.review);
    expect(reviews).toMatchObject([
      { content: 'Better', product_score: 3, edited_times: 2, images: [], order_no: order.order_no },
      { content: 'Not so good', product_score: 2, logistics_score: 2, edited_times: 1, images: [] },
    ]);
    const summary = async (id: number) => (await shop.call('GET', `/api/v1/products/${id}`)).data.review_summary;
    expect(await summary(order.items[0]!.product_id)).toEqual({
      ...{ avg_product_score: 3, avg_logistics_score: 5, total: 1 },
    });
    expect(await summary(order.items[1]!.product_id)).toEqual({
      ...{ avg_product_score: 2, avg_logistics_score: 2, total: 1 },
    });
  });

  test('append: the same text and pictures for each named line, oldest first', async () => {
    const ann = await shop.shopper();
    const order = await orders.shipped(ann, 2);
    await orders.review(ann, order, { content: 'Good' });
    const items = order.items.map((item) => ({ order_item_id: item.id }));
    await orders.review(ann, order, { mode: 'append', items, append_content: 'Still good' });
    await orders.review(ann, order, { mode: 'append', items: [items[0]], append_images: ['/uploads/w.png'] });
    const { data } = await shop.call('GET', `/api/v1/orders/${order.id}`, { token: ann.token });
    const appends = data.items.map((item: { review: { appends: { content: string; images: string[] }[] } }) =>
      item.review.appends.map((append) => [append.content, append.images]),
    );
    expect(appends).toEqual([
      [
        ['Still good', []],
        ['', [`${shop.url}/uploads/w.png`]],
      ],
      [['Still good', []]],
    ]);
  });

  test('one refused line refuses the whole request', async () => {
    const ann = await shop.shopper();
    const order = await orders.shipped(ann, 2);
    const other = await orders.shipped(ann);
    const [a, b] = order.items.map((item) => ({ order_item_id: item.id }));
    await orders.review(ann, order, { items: [a] });
    const before = await rowsOf(order.id);
    const images = (count: number) => Array.from({ length: count }, (_, n) => `/uploads/${n}.png`);
    const cases: [object, number, string][] = [
      [{ items: [b, a] }, 500, 'The item has been reviewed already'],
      [{ content: 'all' }, 500, 'The item has been reviewed already'],
      [{ items: [b, { order_item_id: other.items[0]!.id }] }, 500, 'Order item not found'],
      [{ items: [b, b] }, 400, 'items: a line is there twice'],
      [{}, 400, 'items: name at least one line, or send content or images for all lines'],
      [{ mode: 'edit' }, 400, 'items: name at least one line, or send content or images for all lines'],
      [{ mode: 'edit', items: [a, b] }, 500, 'The item has not been reviewed yet'],
      [{ mode: 'append', items: [a, b], append_content: 'x' }, 500, 'The item has not been reviewed yet'],
      [{ mode: 'append', items: [a] }, 500, 'Please enter a text or add a picture'],
      [{ mode: 'append', items: [a], append_content: '  ' }, 500, 'Please enter a text or add a picture'],
      [{ items: [{ ...b, images: images(10) }] }, 400, 'items[0].images: at most 9 pictures'],
      [{ mode: 'append', items: [a], append_images: images(10) }, 400, 'append_images: at most 9 pictures'],
      [
        { items: [{ ...b, images: ['java\tscript:alert(1)'] }] },
        400,
        'items[0].images: a picture must be a path of this shop or an http address',
      ],
    ];
    for (const [body, code, message] of cases) {
      expect(orders.refusal(await orders.review(ann, order, body)), JSON.stringify(body)).toEqual([code, message]);
      const translated = await orders.review(ann, order, body, 'zh-CN');
      expect(translated.message).toMatch(chinese);
      expect(translated.message).not.toMatch(/please|review/i);
    }
    for (const body of [{ items: [{ ...b, content: 'x'.repeat(1_001) }] }, { mode: 'delete', items: [b] }])
      expect((await orders.review(ann, order, body)).code).toBe(400);
    expect(await rowsOf(order.id)).toEqual(before);
    const [appended] = await shop.database.sql<{ n: number }[]>`
      select count(*)::int as n from reviews.review_appends a join reviews.reviews r on r.id = a.review_id
      where r.order_id = ${order.id}`;
    expect(appended!.n).toBe(0);
  });

  test('the sweep of uploaded files knows the pictures of reviews and additions, under any host', async () => {
    const ann = await shop.shopper();
    const order = await orders.shipped(ann);
    const file = (n: number) => `/uploads/2026/11/17637696000000000${n}_0123456789ab.png`;
    const onHost = (n: number) => `https://shop.example${file(n)}`;
    await orders.review(ann, order, { content: 'Good', images: [file(1), onHost(2)] });
    await orders.review(ann, order, { mode: 'append', append_images: [file(3)] });
    const asked = [file(1), file(2), onHost(3), file(4)];
    const used = await reviewFiles.referenced(shop.database.sql, asked);
    expect([...used].sort()).toEqual([file(1), file(2), onHost(3)].sort());
  });

  test('a review has at most 20 additions', async () => {
    const ann = await shop.shopper();
    const order = await orders.shipped(ann);
    await orders.review(ann, order, { content: 'Good' });
    const append = () => orders.review(ann, order, { mode: 'append', append_content: 'more' });
    for (let n = 0; n < 20; n += 1) expect((await append()).code).toBe(0);
    expect(orders.refusal(await append())).toEqual([500, 'A review holds at most 20 additions']);
  });
});

describe('completion', () => {
  test('an order is completed when its last line gets a review, and stays completed', async () => {
    const ann = await shop.shopper();
    const order = await orders.shipped(ann, 2);
    const [a, b] = order.items.map((item) => ({ order_item_id: item.id, content: 'Good' }));
    await orders.review(ann, order, { items: [a] });
    expect(await orders.statusOf(ann, order)).toBe(3);
    await orders.review(ann, order, { items: [b] });
    expect(await orders.statusOf(ann, order)).toBe(4);
    expect((await orders.review(ann, order, { mode: 'edit', items: [a] })).code).toBe(0);
    expect((await orders.review(ann, order, { mode: 'append', items: [b], append_content: 'x' })).code).toBe(0);
    expect(await orders.statusOf(ann, order)).toBe(4);
    const history = await shop.database.sql<{ trigger: string; actor_id: number }[]>`
      select trigger, actor_id from orders.order_history where order_id = ${order.id} and to_status = 4`;
    expect(history).toEqual([{ trigger: 'reviewed', actor_id: ann.id }]);
  });

  test('an order in after-sale takes reviews and stays there; an edit completes it afterwards', async () => {
    const ann = await shop.shopper();
    const order = await orders.shipped(ann);
    const { sql } = shop.database;
    const move = (from: number, to: number, trigger: string) =>
      sql.begin(async (tx) => {
        await tx`update orders.orders set status = ${to} where id = ${order.id}`;
        await tx`insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type)
          values (${order.id}, ${from}, ${to}, ${trigger}, 'user')`;
      });
    await move(3, 5, 'after_sale_open');
    expect(await orders.meta(ann, order)).toMatchObject({ can_create: true, can_edit: false });
    expect((await orders.review(ann, order, { content: 'Broken' })).code).toBe(0);
    expect(await orders.statusOf(ann, order)).toBe(5);
    await move(5, 3, 'after_sale_end');
    expect((await orders.review(ann, order, { mode: 'append', append_content: 'Repaired' })).code).toBe(0);
    expect(await orders.statusOf(ann, order)).toBe(3);
    expect((await orders.review(ann, order, { mode: 'edit', content: 'Fine now' })).code).toBe(0);
    expect(await orders.statusOf(ann, order)).toBe(4);
  });
});

describe('at the same time', () => {
  test('50 creates of one line make one review', async () => {
    const ann = await shop.shopper();
    const order = await orders.shipped(ann);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => orders.review(ann, order, { content: `Review ${n}` })),
    );
    expect(answers.filter((answer) => answer.code === 0)).toHaveLength(1);
    for (const answer of answers.filter(({ code }) => code !== 0))
      expect(answer.message).toBe('The item has been reviewed already');
    expect(await rowsOf(order.id)).toHaveLength(1);
  });

  test('creates and edits of many shoppers on the same products leave exact summaries', async () => {
    const skus = await orders.newSkus(3);
    const buyers = await Promise.all(Array.from({ length: 12 }, () => shop.shopper()));
    const bought = await Promise.all(
      buyers.map((buyer, n) => orders.shipped(buyer, 3, n % 2 === 0 ? skus : skus.toReversed())),
    );
    const everyone = (body: (n: number) => object) =>
      Promise.all(buyers.map((buyer, n) => orders.review(buyer, bought[n]!, body(n))));
    const scores = (n: number) => (n % 5) + 1;
    await everyone((n) => ({ content: 'First', product_score: scores(n), logistics_score: scores(n + 1) }));
    const edited = await Promise.all([
      everyone((n) => ({ mode: 'edit', content: 'Second', product_score: scores(n + 2) })),
      everyone((n) => ({ mode: 'edit', content: 'Third', product_score: scores(n + 3), logistics_score: 1 })),
      everyone(() => ({ mode: 'append', append_content: 'Later' })),
    ]);
    expect(edited.flat().map((answer) => answer.message)).toEqual(Array(36).fill('success'));
    const summaries = await shop.database.sql`
      select s.total, s.product_score_sum, s.logistics_score_sum from reviews.product_summaries s
      join catalog.product_skus k on k.product_id = s.product_id where k.id = any(${skus}::bigint[])`;
    const counted = await shop.database.sql`
      select count(*) as total, sum(r.product_score)::bigint as product_score_sum,
        sum(r.logistics_score)::bigint as logistics_score_sum
      from reviews.reviews r join catalog.product_skus k on k.product_id = r.product_id
      where k.id = any(${skus}::bigint[]) group by r.product_id`;
    const sorted = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).sort();
    expect(summaries).toHaveLength(3);
    expect(sorted(summaries)).toEqual(sorted(counted));
    for (const [n, order] of bought.entries()) expect(await orders.statusOf(buyers[n]!, order)).toBe(4);
  });

  test('the last review and the automatic completion complete an order once, and the review is kept', async () => {
    const ann = await shop.shopper();
    const bought = await Promise.all(Array.from({ length: 10 }, () => orders.shipped(ann)));
    const ids = bought.map((order) => order.id);
    const { sql } = shop.server.runtime;
    const by = { actor: { type: 'system', id: 0 }, now: new Date() } as const;
    const [, ...answers] = await Promise.all([
      sql.begin((tx) => completeOrders(tx, ids, 'auto_complete', by)),
      ...bought.map((order) => orders.review(ann, order, { content: 'Good' })),
    ]);
    expect(answers.map((answer) => answer.message)).toEqual(Array(10).fill('success'));
    const moves = await sql`
      select order_id from orders.order_history where order_id = any(${ids}::bigint[]) and to_status = 4`;
    expect(moves).toHaveLength(10);
    for (const order of bought) expect(await orders.statusOf(ann, order)).toBe(4);
  });

  test('a repeat with the same Idempotency-Key changes nothing', async () => {
    const ann = await shop.shopper();
    const order = await orders.shipped(ann);
    await orders.review(ann, order, { content: 'Good' });
    const send = () =>
      shop.call('POST', `/api/v1/orders/${order.id}/review`, {
        token: ann.token,
        body: { mode: 'append', append_content: 'Once' },
        headers: { 'idempotency-key': `append-${order.id}` },
      });
    for (const answer of [await send(), await send()]) expect(answer.code).toBe(0);
    const { data } = await shop.call('GET', `/api/v1/orders/${order.id}`, { token: ann.token });
    expect(data.items[0].review.appends).toHaveLength(1);
  });
});

test('each new review is an event, an edit is not', async () => {
  const ann = await shop.shopper();
  const order = await orders.shipped(ann, 2);
  await orders.review(ann, order, { content: 'Sturdy' });
  await orders.review(ann, order, { mode: 'edit', content: 'Very sturdy' });
  const events = await shop.database.sql`
    select e.data, r.order_item_id from runtime.outbox e join reviews.reviews r on r.id = (e.data ->> 'review_id')::bigint
    where e.name = 'review.created' and e.subject = ${`order:${order.id}`} order by e.id`;
  expect(events.map(({ data, order_item_id }) => data.order_item_id === order_item_id)).toEqual([true, true]);
  expect(events[0]!.data).toMatchObject({ order_id: order.id, order_no: order.order_no, user_id: ann.id });
});
