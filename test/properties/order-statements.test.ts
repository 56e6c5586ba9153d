import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { logStatements, type StatementLog } from '@tradepost/testing/statements';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

/**
 * Pages of orders with shipments, after-sale cases and reviews cost the same number of statements for one order and for
 * fifty. A query per row would make the most frequent pages of both clients slow in a shop that sells.
 */
const orders = 50;
let shop: Shop;
let statements: StatementLog;
let staff: string;
let shopper: Awaited<ReturnType<Shop['shopper']>>;
const ids: number[] = [];

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  shop = await openShop();
  staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  shopper = await shop.shopper();
  const { sku_ids } = await insertProduct(shop.database, { stocks: [1_000, 1_000] });
  for (let n = 0; n < orders; n++) ids.push(await orderWithEverything(sku_ids));
  statements = logStatements(shop);
}, 120_000);
afterAll(async () => {
  vi.useRealTimers();
  await shop?.close();
});

async function send(method: string, path: string, token: string, body?: object) {
  const answer = await shop.call(method, path, { token, body });
  expect(`${method} ${path}: ${answer.message}`).toBe(`${method} ${path}: success`);
  return answer.data;
}

/** An order with two reviewed lines, a case with a return shipment, and a second case that is open. */
async function orderWithEverything(skuIds: readonly number[]): Promise<number> {
  const { token, address_id } = shopper;
  const items = skuIds.map((sku_id) => ({ sku_id }));
  const { id } = await send('POST', '/api/v1/orders', token, { address_id, items });
  await send('POST', `/api/v1/orders/${id}/pay`, token);
  await send('PUT', `/admin/api/orders/${id}/ship`, staff, { company: 'SF', tracking_no: `SF${id}` });
  const lines: { order_item_id: number }[] = (await send('GET', `/api/v1/orders/${id}`, token)).items;
  const reviews = lines.map(({ order_item_id }) => ({ order_item_id, product_score: 5, content: 'Good', images: [] }));
  await send('POST', `/api/v1/orders/${id}/review`, token, { mode: 'create', logistics_score: 5, items: reviews });
  const cases: number[] = [];
  for (const { order_item_id } of lines) {
    const body = { case_type: 'return', reason: 'Too small', items: [{ order_item_id, qty: 1 }] };
    cases.push((await send('POST', `/api/v1/orders/${id}/after-sales`, token, body)).id);
  }
  await send('POST', `/admin/api/after-sales/${cases[0]}/audit`, staff, { approve: true, audit_remark: '' });
  await send('POST', `/api/v1/after-sales/${cases[0]}/return-shipments`, token, { company: '', tracking_no: 'R1' });
  return id;
}

/** The answer of a page and the number of its statements. */
async function read(path: string, token: string) {
  const { value, texts } = await statements.during(() => send('GET', path, token));
  return { data: value, statements: texts.length };
}

describe.each([
  ['a shopper', '/api/v1/orders', () => shopper.token],
  ['the back office', '/admin/api/orders', () => staff],
])('for %s', (_who, path, token) => {
  test('a page of fifty orders costs as many statements as a page of one', async () => {
    const one = await read(`${path}?size=1`, token());
    const fifty = await read(`${path}?size=${orders}`, token());
    expect(one.data.list).toHaveLength(1);
    expect(fifty.data.list).toHaveLength(orders);
    for (const order of fifty.data.list) {
      expect(order.shipments).toHaveLength(2);
      expect(order.after_sale_summary).toMatchObject({ in_progress_count: 2, has_open_case: true });
      for (const item of order.items) expect(item.review.id).toBeGreaterThan(0);
    }
    expect(fifty.statements).toBe(one.statements);
  });

  test('the detail of an order costs no more than its page', async () => {
    const page = await read(`${path}?size=1`, token());
    const detail = await read(`${path}/${ids[0]}`, token());
    expect(detail.data.shipments).toHaveLength(2);
    expect(detail.statements).toBeLessThanOrEqual(page.statements);
  });
});

test('a page of orders that were never paid does not ask for shipments, cases and reviews', async () => {
  const { token, address_id } = await shop.shopper();
  const { sku_ids } = await insertProduct(shop.database, { stocks: [10] });
  await send('POST', '/api/v1/orders', token, { address_id, items: [{ sku_id: sku_ids[0] }] });
  const page = await read('/api/v1/orders', token);
  expect(page.data.list).toMatchObject([
    { shipments: [], after_sale_summary: { can_apply: false, latest_case_id: 0 } },
  ]);
  expect(page.statements).toBeLessThanOrEqual(3);
});
