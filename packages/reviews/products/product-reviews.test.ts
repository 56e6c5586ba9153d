import { modules } from '@tradepost/app';
import type { Statement } from '@tradepost/postgres';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { openModuleShop } from '@tradepost/testing/module-shop';
import { contract, expectFields } from '@tradepost/testing/routes/contract';
import { cloneDatabase } from '@tradepost/testing/servers/database';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { logStatements } from '@tradepost/testing/statements';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openReviewedOrders } from '../testing/reviewed-orders.ts';

/** The reviews that visitors of a product see. */
let shop: Shop;
let orders: Awaited<ReturnType<typeof openReviewedOrders>>;
beforeAll(async () => {
  shop = await openShop();
  orders = await openReviewedOrders(shop);
});
afterAll(() => shop?.close());

const reviewsOf = async (id: number, query = '') =>
  (await shop.call('GET', `/api/v1/products/${id}/reviews${query}`)).data;

test('without reviews: numbers that clients can format, and an empty list', async () => {
  const { id } = await insertProduct(shop.database);
  const none = { avg_product_score: 0, avg_logistics_score: 0, total: 0 };
  expect(await reviewsOf(id)).toEqual({ summary: none, list: [], total: 0, page: 1, size: 10 });
  expect((await shop.call('GET', `/api/v1/products/${id}`)).data.review_summary).toEqual(none);
  for (const missing of [2 ** 40, (await insertProduct(shop.database, { status: 0 })).id])
    expect(await shop.call('GET', `/api/v1/products/${missing}/reviews`)).toMatchObject({
      code: 10002,
      message: 'Product not found',
    });
});

test('newest first, with additions, reply and averages over all reviews', async () => {
  const skus = await orders.newSkus(1);
  const buyers = await Promise.all(Array.from({ length: 3 }, () => shop.shopper()));
  const ann = buyers[2]!;
  await shop.database
    .sql`update identity.shoppers set nickname = 'Ann', avatar = '/uploads/a.png' where id = ${ann.id}`;
  const bought = [];
  for (const [n, buyer] of buyers.entries()) {
    const order = await orders.shipped(buyer, 1, skus);
    const images = ['/uploads/r.png', 'https://cdn.example/x.png'];
    await orders.review(buyer, order, { content: `Review ${n}`, images, product_score: n + 2, logistics_score: 4 });
    bought.push(order);
  }
  await orders.review(ann, bought[2]!, { mode: 'append', append_content: 'Still good' });
  await orders.review(ann, bought[2]!, { mode: 'append', append_images: ['/uploads/b.png'] });
  const id = bought[0]!.items[0]!.product_id;
  const newest = (await reviewsOf(id)).list[0].id;
  await shop.call('POST', `/admin/api/reviews/${newest}/reply`, { token: orders.staff, body: { content: 'Thanks' } });

  const data = await reviewsOf(id);
  expectFields(data, `${contract.paged}, summary o`);
  expectFields(data.summary, contract.reviewSummary);
  expect(data.summary).toEqual({ avg_product_score: 3, avg_logistics_score: 4, total: 3 });
  expect((await shop.call('GET', `/api/v1/products/${id}`)).data.review_summary).toEqual(data.summary);
  expect(data.list.map((row: { content: string }) => row.content)).toEqual(['Review 2', 'Review 1', 'Review 0']);
  for (const row of data.list) expectFields(row, contract.review);
  const [first, second] = data.list;
  expect(first).toMatchObject({
    ...{ user_nickname: 'Ann', user_avatar: `${shop.url}/uploads/a.png`, admin_reply: { content: 'Thanks' } },
    images: [`${shop.url}/uploads/r.png`, 'https://cdn.example/x.png'],
  });
  expectFields(first.admin_reply, contract.reviewReply);
  expect(first.appends.map((a: { content: string; images: string[] }) => [a.content, a.images])).toEqual([
    ['Still good', []],
    ['', [`${shop.url}/uploads/b.png`]],
  ]);
  for (const append of first.appends) expectFields(append, contract.reviewAppend);
  expect(second).toMatchObject({ appends: [], admin_reply: null });
  for (const order of bought)
    expect(JSON.stringify(data), 'a visitor does not see order numbers').not.toContain(order.order_no);
  const page = await reviewsOf(id, '?size=2&page=2');
  expect([page.list.length, page.total, page.summary.total]).toEqual([1, 3, 3]);
  expect(await reviewsOf(id, '?page=99')).toMatchObject({ list: [], total: 3, summary: { total: 3 } });
  expect((await reviewsOf(id, '?size=50')).size).toBe(50);
  expect((await reviewsOf(id, '?size=51')).size).toBe(10);
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});

test('a page of reviews takes two statements, the page of a product no more than without reviews', async () => {
  const { id } = await insertProduct(shop.database);
  const statements = logStatements(shop);
  const count = async (path: string) =>
    (await statements.during(() => shop.call('GET', path))).texts.filter((text) => /catalog\.|reviews\./.test(text));
  for (const size of [1, 50]) expect(await count(`/api/v1/products/${id}/reviews?size=${size}`)).toHaveLength(2);
  expect(await count(`/api/v1/products/${id}`)).toHaveLength(1);
});

test('with many reviews a page reads an index and no more rows than it shows', async () => {
  const { sql } = shop.database;
  const { id } = await insertProduct(shop.database);
  const { id: other } = await insertProduct(shop.database);
  await sql.begin(async (tx) => {
    await tx`
      insert into reviews.reviews (order_id, order_item_id, product_id, user_id, product_score, logistics_score, content)
      select n, 1_000_000 + n, case n % 2 when 0 then ${id}::bigint else ${other}::bigint end, 1, 5, 5, 'Review ' || n
      from generate_series(1, 20000) as n`;
    await tx`insert into reviews.product_summaries (product_id, total, product_score_sum, logistics_score_sum)
      values (${id}, 10000, 50000, 50000), (${other}, 10000, 50000, 50000)`;
  });
  await sql`analyze reviews.reviews`;
  expect(await reviewsOf(id, '?page=2')).toMatchObject({ summary: { avg_product_score: 5, total: 10_000 } });
  const planOf = async (query: Statement) =>
    (await sql`explain (analyze, costs off, timing off, summary off) ${query}`)
      .map((row) => row['QUERY PLAN'])
      .join('\n');
  const page = sql`select id from reviews.reviews where product_id = ${id} order by id desc limit 10 offset 20`;
  expect(await planOf(page)).toMatch(/Index Only Scan using reviews_of_product .*rows=30/);
  const search = sql`
    select id from reviews.reviews r
    where runtime.grams(r.content) @> runtime.grams_sought('w 19999') and position('w 19999' in lower(r.content)) > 0`;
  expect(await planOf(search)).toContain('reviews_content');
});

test('without the module the catalogue and the orders work, and show no reviews', async () => {
  const database = await cloneDatabase();
  const plain = await openModuleShop(
    database,
    modules.filter(({ name }) => name !== 'reviews'),
  );
  try {
    const { id, sku_ids } = await insertProduct(database);
    const { data: product } = await plain.call('GET', `/api/v1/products/${id}`);
    expect(product).not.toHaveProperty('review_summary');
    expect((await plain.call('GET', `/api/v1/products/${id}/reviews`)).status).toBe(404);
    const ann = await plain.shopper();
    const body = { address_id: ann.address_id, items: [{ sku_id: sku_ids[0] }] };
    const { data: order } = await plain.call('POST', '/api/v1/orders', { token: ann.token, body });
    const { data } = await plain.call('GET', `/api/v1/orders/${order.id}`, { token: ann.token });
    expect(data.items[0]).not.toHaveProperty('review');
  } finally {
    await plain.close();
    await database.drop();
  }
});
