import { auditViolations } from '@tradepost/testing/audit-violations';
import { chinese, contract, expectFields } from '@tradepost/testing/routes/contract';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openReviewedOrders } from '../testing/reviewed-orders.ts';

/** The shop reads reviews and replies to them. */
let shop: Shop;
let orders: Awaited<ReturnType<typeof openReviewedOrders>>;
let ids: number[] = [];
const texts = ['Sturdy mug, 100% happy', '杯子很结实', 'Arrived broken', 'Sturdy, but heavy'];

beforeAll(async () => {
  shop = await openShop();
  orders = await openReviewedOrders(shop);
  const ann = await shop.shopper();
  for (const content of texts) await orders.review(ann, await orders.shipped(ann), { content });
  const rows = await shop.database.sql<{ id: number }[]>`select id from reviews.reviews order by id`;
  ids = rows.map((row) => row.id);
});
afterAll(async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
  await shop?.close();
});

const admin = (method: string, path: string, body?: object, token = orders.staff, lang = 'en') =>
  shop.call(method, `/admin/api${path}`, { token, body, lang });
const found = async (query: string) => {
  const { data } = await admin('GET', `/reviews?${query}`);
  expect(data.total).toBe(data.list.length);
  return data.list.map((row: { content: string }) => row.content);
};

test('the list and the detail have the fields of the contract, in the language of the reader', async () => {
  const { data } = await admin('GET', '/reviews?size=2');
  expectFields(data, contract.paged);
  expect([data.total, data.list.length]).toEqual([4, 2]);
  expect(data.list[0].content).toBe(texts[3]);
  for (const row of data.list) {
    expectFields(row, contract.review);
    expectFields(row, contract.adminReview);
    expectFields(row.product, 'id i, title s, cover s');
    expectFields(row.order_item, 'id i, title s, cover s, attrs json');
  }
  const [newest] = data.list;
  const { data: one } = await admin('GET', `/reviews/${newest.id}`);
  expect(one).toEqual(newest);
  const [row] = await shop.database.sql<{ order_no: string }[]>`
    select order_no from orders.orders where id = ${one.order_id}`;
  expect(one.order_no, 'the shop sees the whole number').toBe(row!.order_no);
  await shop.database.sql`
    update catalog.products set translations = '{"zh-CN": {"title": "搪瓷杯"}}' where id = ${one.product.id}`;
  const { data: translated } = await admin('GET', `/reviews/${newest.id}`, undefined, orders.staff, 'zh-CN');
  expect(translated.product.title).toBe('搪瓷杯');
  expect(translated.order_item.title, 'the line keeps what the buyer saw').toBe('Enamel mug');
});

test('keyword, product and reply status find reviews; empty values are no filter', async () => {
  expect(await found('keyword=STURDY')).toEqual([texts[3], texts[0]]);
  expect(await found(`keyword=${encodeURIComponent('结实')}`)).toEqual([texts[1]]);
  expect(await found(`keyword=${encodeURIComponent('杯')}`)).toEqual([texts[1]]);
  for (const special of ['%', '_', "'", '\\']) {
    const expected = texts.filter((text) => text.includes(special)).reverse();
    expect(await found(`keyword=${encodeURIComponent(special)}`), special).toEqual(expected);
  }
  expect(await found('keyword=nothing')).toEqual([]);
  expect(await found('keyword=&product_id=&reply_status=')).toHaveLength(4);
  const { data } = await admin('GET', `/reviews/${ids[2]}`);
  expect(await found(`product_id=${data.product_id}`)).toEqual([texts[2]]);
  expect(await found(`product_id=${2 ** 40}`)).toEqual([]);
  await admin('POST', `/reviews/${ids[2]}/reply`, { content: 'Sorry' });
  expect(await found('reply_status=replied')).toEqual([texts[2]]);
  expect(await found('reply_status=pending')).toEqual([texts[3], texts[1], texts[0]]);
  expect(await found('reply_status=pending&keyword=sturdy')).toEqual([texts[3], texts[0]]);
});

test('a keyword that very many reviews have is searched in the newest ones', async () => {
  await shop.database.sql.begin(async (tx) => {
    const [line] = await tx<{ product_id: number; user_id: number }[]>`
      select product_id, user_id from reviews.reviews where id = ${ids[0]!}`;
    await tx`
      insert into reviews.reviews (order_id, order_item_id, product_id, user_id, product_score, logistics_score, content)
      select 1_000_000, 1_000_000 + n, ${line!.product_id}, ${line!.user_id}, 5, 5, 'Same words ' || n
      from generate_series(1, 6000) as n`;
  });
  const { data } = await admin('GET', '/reviews?keyword=same%20words&size=3');
  expect(data.total).toBe(6_000);
  expect(data.list.map((row: { content: string }) => row.content)).toEqual([
    'Same words 6000',
    'Same words 5999',
    'Same words 5998',
  ]);
  await shop.database.sql`delete from reviews.reviews where order_id = 1000000`;
});

test('a second reply replaces the first; a blank one and a missing review are refused', async () => {
  const reply = (id: number, content: string, lang = 'en') =>
    admin('POST', `/reviews/${id}/reply`, { content }, orders.staff, lang);
  const [, second] = ids;
  expect(await reply(second!, '谢谢')).toMatchObject({ code: 0, data: null });
  const { admin_reply: first } = (await admin('GET', `/reviews/${second}`)).data;
  expectFields(first, contract.reviewReply);
  await reply(second!, 'Thank you');
  const { admin_reply: replaced } = (await admin('GET', `/reviews/${second}`)).data;
  expect([replaced.id, replaced.content, replaced.created_at]).toEqual([first.id, 'Thank you', first.created_at]);
  expect((await reply(second!, '  ')).code).toBe(400);
  expect((await reply(second!, 'x'.repeat(1_001))).code).toBe(400);
  expect(orders.refusal(await reply(2 ** 40, 'x'))).toEqual([404, 'Review not found']);
  expect((await reply(2 ** 40, 'x', 'zh-CN')).message).toMatch(chinese);
  expect(orders.refusal(await admin('GET', `/reviews/${2 ** 40}`))).toEqual([404, 'Review not found']);
});

test('the list needs order:view, the reply needs order:review-reply', async () => {
  const tokenWith = (...perms: string[]) => shop.server.tokens.issue({ role: 'admin', id: 1, perms });
  const viewer = await tokenWith('order:view');
  expect((await admin('GET', '/reviews', undefined, viewer)).code).toBe(0);
  expect(await admin('POST', `/reviews/${ids[0]}/reply`, { content: 'x' }, viewer)).toMatchObject({
    code: 403,
    message: 'No permission: order:review-reply',
  });
  expect((await admin('GET', '/reviews', undefined, await tokenWith('product:view'))).code).toBe(403);
  const { data } = await admin('GET', '/menus', undefined, viewer);
  expect(JSON.stringify(data)).toContain('"path":"/review/list"');
});

test('50 replies at the same time leave one reply', async () => {
  const [, , , last] = ids;
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => admin('POST', `/reviews/${last}/reply`, { content: `Reply ${n}` })),
  );
  expect(answers.every((answer) => answer.code === 0)).toBe(true);
  const rows = await shop.database.sql`select id from reviews.review_replies where review_id = ${last!}`;
  expect(rows).toHaveLength(1);
});
