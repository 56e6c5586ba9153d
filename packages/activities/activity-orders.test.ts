import { audits } from '@tradepost/app';
import { runAudits } from '@tradepost/runtime';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openFlashSales } from './testing/flash-sale.ts';

let shop: Shop;
let sales: Awaited<ReturnType<typeof openFlashSales>>;
let buyer: Awaited<ReturnType<Shop['shopper']>>;
beforeAll(async () => {
  shop = await openShop({ only: 'api,worker', databasePool: 16 });
  sales = await openFlashSales(shop);
  buyer = await shop.shopper();
});
afterAll(() => shop?.close());
/** The audits of this package find nothing after each test. */
afterEach(async () => {
  const own = audits.filter(({ name }) => /^(activities|inventory|orders\.(lines|amounts))/.test(name));
  const failed = (await runAudits(shop.database.sql, own)).filter(({ total, error }) => total > 0 || error);
  expect(failed).toEqual([]);
});

type Buyer = { token: string; address_id: number };
type Pair = { sku_id: number; activity_product_id: number };
const orderOf = (of: Buyer, items: readonly Pair[], more: object = {}) =>
  shop.call('POST', '/api/v1/orders', { token: of.token, body: { address_id: of.address_id, items, ...more } });
const quoteOf = (of: Buyer, items: readonly Pair[]) =>
  shop.call('POST', '/api/v1/orders/quote', { token: of.token, body: { items } });
const addToCart = (of: Buyer, line: Pair & { qty: number }) =>
  shop.call('POST', '/api/v1/cart/add', { token: of.token, body: line });
const cancel = (of: Buyer, id: number) => shop.call('POST', `/api/v1/orders/${id}/cancel`, { token: of.token });
const pairOf = ({ sku_id, activity_product_id }: Pair): Pair => ({ sku_id, activity_product_id });

/** Shoppers with an address and a cart line, written by SQL. */
async function makeBuyers(count: number, line: Pair, qtyOf: (n: number) => number): Promise<Buyer[]> {
  const rows = await shop.database.sql<{ user_id: number; address_id: number }[]>`
    with made as (
      insert into identity.shoppers (nickname) select 'Buyer ' || n from generate_series(1, ${count}) n returning id)
    insert into identity.addresses (user_id, name, phone, is_default) select id, 'Ann', '13800000000', true from made
    returning user_id, id as address_id`;
  await shop.database.sql`
    insert into orders.cart_lines (user_id, sku_id, activity_product_id, qty)
    select u.id, ${line.sku_id}, ${line.activity_product_id}, u.qty
    from unnest(${rows.map((row) => row.user_id)}::bigint[], ${rows.map((_, n) => qtyOf(n))}::int[]) as u (id, qty)`;
  return Promise.all(
    rows.map(async ({ user_id, address_id }) => ({
      address_id,
      token: await shop.server.tokens.issue({ role: 'user', id: user_id, perms: [] }),
    })),
  );
}

describe('an order of an activity line', () => {
  test('the quote equals the order; line, order and cart show the activity; the ordinary line keeps its price', async () => {
    const one = await sales.sellOne({ activity_price: 9.9, total_stock_limit: 10 });
    const pair = pairOf(one);
    await addToCart(buyer, { ...pair, qty: 2 });
    await addToCart(buyer, { ...pair, activity_product_id: 0, qty: 1 });
    const cart = (await shop.call('GET', '/api/v1/cart', { token: buyer.token })).data;
    expect(cart[0].activity_snapshot).toEqual({
      ...{ activity_product_id: one.activity_product_id, activity_id: one.activity_id, activity_type: 'seckill' },
      ...{ activity_name: 'Weekend sale', price: 9.9, origin_price: 12.9 },
      ...{ activity_start_at: expect.any(String), activity_end_at: expect.any(String) },
    });
    expect(cart[1]).not.toHaveProperty('activity_snapshot');
    const items = [pair, { ...pair, activity_product_id: 0 }];
    const quote = (await quoteOf(buyer, items)).data;
    expect(quote).toMatchObject({ goods_amount: 32.7, discount_amount: 0, total_amount: 32.7, discounts: [] });
    expect(quote.items.map((line: { price: number }) => line.price)).toEqual([9.9, 12.9]);
    expect(await sales.soldOf(one.activity_product_id)).toBe(0);
    const { data: order } = await orderOf(buyer, items);
    expect(order).toMatchObject({ total_amount: quote.total_amount, amount_breakdown: quote.amount_breakdown });
    expect(await sales.soldOf(one.activity_product_id)).toBe(2);
    const shown = (await shop.call('GET', `/api/v1/orders/${order.id}`, { token: buyer.token })).data;
    expect(shown).toMatchObject({ activity_type: 'seckill', activity_name: 'Weekend sale' });
    expect(shown.items[0]).toMatchObject({
      ...{ activity_product_id: one.activity_product_id, activity_id: one.activity_id, activity_type: 'seckill' },
      ...{ activity_title: 'Weekend sale', price: 9.9, qty: 2 },
    });
    await cancel(buyer, order.id);
    expect(await sales.soldOf(one.activity_product_id)).toBe(0);
  });

  test('each check has its own message, in the cart, the quote and the order', async () => {
    const one = await sales.sellOne({ limit_per_order: 3, total_stock_limit: 5 });
    const { sql } = shop.database;
    const pair = pairOf(one);
    const other = await insertProduct(shop.database);
    const id = one.activity_product_id;
    const activity = one.activity_id;
    const sameSku = { ...pair };
    const cases: [string, Pair, (() => PromiseLike<unknown>) | null, string][] = [
      ['no row', { ...pair, activity_product_id: 999_999 }, null, 'Activity product not found'],
      ['other SKU', { ...pair, sku_id: other.sku_ids[0]! }, null, 'The activity does not have this SKU'],
      [
        'sold out',
        sameSku,
        () => sql`update activities.activity_products set total_stock_limit = 1, sold_qty = 1 where id = ${id}`,
        'The activity is sold out',
      ],
      [
        'ended',
        sameSku,
        () =>
          sql`update activities.activities set start_at = now() - interval '2 hours', end_at = now() - interval '1 hour' where id = ${activity}`,
        'The activity has ended',
      ],
      [
        'not started',
        sameSku,
        () =>
          sql`update activities.activities set start_at = now() + interval '1 hour', end_at = now() + interval '2 hours' where id = ${activity}`,
        'The activity has not started',
      ],
      [
        'inactive',
        sameSku,
        () => sql`update activities.activities set status = 0 where id = ${activity}`,
        'The activity is not active',
      ],
      [
        'other product',
        { ...pair, sku_id: other.sku_ids[0]! },
        () => sql`update activities.activity_products set sku_id = 0 where id = ${id}`,
        'The activity does not have this product',
      ],
      [
        'removed',
        sameSku,
        () => sql`update activities.activity_products set removed_at = now() where id = ${id}`,
        'Activity product not found',
      ],
    ];
    for (const [name, line, prepare, message] of cases) {
      await prepare?.();
      for (const answer of [
        await orderOf(buyer, [line]),
        await quoteOf(buyer, [line]),
        await addToCart(buyer, { ...line, qty: 1 }),
      ])
        expect([answer.code, answer.message], name).toEqual([20001, message]);
    }
    await sql`delete from activities.activity_products where id = ${id}`;
  });

  test('limits count all lines of an order with the same row', async () => {
    const { id: product_id, sku_ids } = await insertProduct(shop.database, { stocks: [50, 50] });
    const { rowIds } = await sales.start([
      { product_id, sku_id: 0, activity_price: 5, limit_per_order: 4, total_stock_limit: 6 },
    ]);
    const [first, second] = sku_ids.map((sku_id) => ({ sku_id, activity_product_id: rowIds[0]! }));
    const mine = await shop.shopper();
    await addToCart(mine, { ...first!, qty: 2 });
    await addToCart(mine, { ...second!, qty: 3 });
    const both = [first!, second!];
    const tooMany = [20001, 'At most 4 pieces of the activity fit into one order'];
    for (const answer of [await quoteOf(mine, both), await orderOf(mine, both)])
      expect([answer.code, answer.message]).toEqual(tooMany);
    const { data: order } = await orderOf(mine, [second!]);
    expect(order).toMatchObject({ total_amount: 15 });
    await addToCart(mine, { ...second!, qty: 2 });
    const short = await orderOf(mine, both);
    expect([short.code, short.message]).toEqual([20001, 'The activity has only 3 pieces left']);
    expect(await sales.soldOf(rowIds[0]!)).toBe(3);
  });
});

describe('many buyers at once', () => {
  test('500 buyers of a cap of 100 with at most 2 each: exactly what was ordered; all cancelled: 0', async () => {
    const one = await sales.sellOne({ limit_per_order: 2, total_stock_limit: 100 });
    const buyers = await makeBuyers(500, one, (n) => 1 + (n % 3));
    const orders: { buyer: Buyer; id: number; qty: number }[] = [];
    const refusals = new Map<string, number>();
    let next = 0;
    const buy = async () => {
      for (let n = next++; n < buyers.length; n = next++) {
        const answer = await orderOf(buyers[n]!, [pairOf(one)]);
        if (answer.code === 0) orders.push({ buyer: buyers[n]!, id: answer.data.id, qty: 1 + (n % 3) });
        else refusals.set(answer.message, (refusals.get(answer.message) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: 64 }, buy));
    expect(orders.every(({ qty }) => qty <= 2)).toBe(true);
    expect(orders.reduce((sum, { qty }) => sum + qty, 0)).toBe(100);
    expect(await sales.soldOf(one.activity_product_id)).toBe(100);
    expect(orders.length + [...refusals.values()].reduce((a, b) => a + b, 0)).toBe(500);
    expect(refusals.get('The activity is sold out')).toBeGreaterThan(100);
    const [event] = await shop.database.sql<{ data: unknown }[]>`
      select data from runtime.outbox where name = 'activity.sold_out' order by id desc limit 1`;
    expect(event!.data).toMatchObject({ activity_product_id: one.activity_product_id, total_stock_limit: 100 });
    // Each cancellation comes twice.
    const answers = await Promise.all([...orders, ...orders].map((order) => cancel(order.buyer, order.id)));
    expect(answers.filter(({ code }) => code === 0)).toHaveLength(orders.length);
    expect(await sales.soldOf(one.activity_product_id)).toBe(0);
  });

  test('two rows bought in both orders of lines, with cancellations, do not block each other', async () => {
    const { id: product_id, sku_ids } = await insertProduct(shop.database, { stocks: [500, 500] });
    const { rowIds } = await sales.start(
      sku_ids.map((sku_id) => ({ product_id, sku_id, activity_price: 5, total_stock_limit: 40 })),
    );
    const pairs = sku_ids.map((sku_id, n) => ({ sku_id, activity_product_id: rowIds[n]! }));
    const buyers = await makeBuyers(60, pairs[0]!, () => 1);
    const outcomes = await Promise.all(
      buyers.map(async (of, n) => {
        const answer = await orderOf(of, n % 2 ? pairs : pairs.toReversed());
        if (answer.code === 0 && n % 5 === 0) await cancel(of, answer.data.id);
        return answer.code === 0 && n % 5 !== 0;
      }),
    );
    const kept = outcomes.filter(Boolean).length;
    expect(await Promise.all(rowIds.map(sales.soldOf))).toEqual([kept, kept]);
  });
});

describe('what comes back', () => {
  test('an order that expires returns', async () => {
    const one = await sales.sellOne({ total_stock_limit: 1 });
    const { data: order } = await orderOf(buyer, [pairOf(one)]);
    expect(await orderOf(buyer, [pairOf(one)])).toMatchObject({ code: 20001, message: 'The activity is sold out' });
    await shop.database.sql`update orders.orders set expires_at = now() - interval '1 minute' where id = ${order.id}`;
    await shop.database.sql`select graphile_worker.add_job('orders.expire', '{}'::json)`;
    await expect.poll(() => sales.soldOf(one.activity_product_id), { timeout: 8_000 }).toBe(0);
    expect((await orderOf(buyer, [pairOf(one)])).code).toBe(0);
  });

  test('a refunded case returns its pieces once, and never more than is left', async () => {
    const one = await sales.sellOne({ total_stock_limit: 10 });
    const mine = await shop.shopper();
    await addToCart(mine, { ...pairOf(one), qty: 5 });
    const { data: order } = await orderOf(mine, [pairOf(one)]);
    await shop.call('POST', `/api/v1/orders/${order.id}/pay`, { token: mine.token });
    const refunded = (case_id: number, qty: number) => {
      const items = [{ order_item_id: 1, sku_id: one.sku_id, activity_product_id: one.activity_product_id, qty }];
      const { id: order_id, order_no, user_id } = order;
      const ofCase = { case_id, case_no: `AS${case_id}`, case_type: 'return', refund_amount: 1, operator: 'admin' };
      const data = { ...ofCase, order_id, order_no, user_id, items };
      return { name: 'after_sale.refunded', subject: `order:${order.id}`, data };
    };
    const publish = async (...events: ReturnType<typeof refunded>[]) => {
      const { sql } = shop.database;
      await sql`
        insert into runtime.outbox (name, subject, data, occurred_at)
        select name, subject, data, now() from json_to_recordset(${JSON.stringify(events)}::text::json)
          as e (name text, subject text, data jsonb)`;
      const waiting = async () => (await sql`select from runtime.outbox where dispatched_at is null`).length;
      // The events of the orders above come first.
      await expect.poll(waiting, { timeout: 25_000 }).toBe(0);
      return sales.soldOf(one.activity_product_id);
    };
    expect(await publish(refunded(1, 2))).toBe(3);
    expect(await publish(refunded(1, 2), refunded(2, 1), refunded(1, 2))).toBe(2);
    expect(await publish(refunded(3, 1), refunded(4, 9))).toBe(0);
    expect(await publish(refunded(5, 1))).toBe(0);
  });
});
