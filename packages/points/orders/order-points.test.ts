import { openPricePipeline } from '@tradepost/pricing';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { dispatchEvents } from '@tradepost/testing/dispatch-events';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPointsShop } from '../testing/points-shop.ts';
import { discountFor } from './exchange-rate.ts';
import { pointsStep } from './points-step.ts';

let shop: Shop;
let at: Awaited<ReturnType<typeof openPointsShop>>;
beforeAll(async () => {
  shop = await openShop();
  at = await openPointsShop(shop);
});
afterAll(async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
  await shop?.close();
});

describe('the points and cents of an exchange rate', () => {
  test.each([
    // points, left to pay, points for 1.00 -> points, cents
    [250, 10_000, 100, 250, 250],
    [5_000, 1_290, 100, 1_290, 1_290],
    // A point is worth 10 cents: the last 4 cents cannot be paid with points.
    [1_000, 1_234, 10, 123, 1_230],
    // 10 points are worth a cent: only whole cents are charged.
    [15, 1_000, 1_000, 10, 1],
    [9, 1_000, 1_000, 0, 0],
    // 30 points are worth 1.00.
    [10, 1_000, 30, 10, 33],
    [1_000_000_000, 9_999_999_999, 1_000_000, 1_000_000_000, 100_000],
  ])('%i points for at most %i cents at %i points for 1.00', (points, limit, perUnit, cost, amount) => {
    expect(discountFor(points, limit, perUnit)).toEqual({ points: cost, amount });
  });

  test('the cost is the fewest points that pay the cents, and never more than what is offered', () => {
    for (const perUnit of [1, 3, 7, 30, 100, 333, 1_000])
      for (let points = 0; points < 60; points += 1)
        for (const limit of [0, 1, 19, 1_000]) {
          const { points: cost, amount } = discountFor(points, limit, perUnit);
          expect(cost).toBeLessThanOrEqual(points);
          expect(amount).toBeLessThanOrEqual(limit);
          expect(cost * 100).toBeGreaterThanOrEqual(amount * perUnit);
          if (cost > 0) expect((cost - 1) * 100).toBeLessThan(amount * perUnit);
        }
  });
});

describe('points of an order', () => {
  test('are a discount that is shared over the lines, in the quote as in the order, and go back when it is cancelled', async () => {
    const buyer = await at.buyerWith(1_000);
    const skus = await at.skusAt(1_000, 500);
    const quoted = await at.quote(buyer, skus, 300);
    expect(quoted.data).toMatchObject({
      ...{ goods_amount: 15, discount_amount: 3, total_amount: 12 },
      discounts: [{ type: 'points', name: 'Points', amount: 3, discount: 3 }],
    });
    const inChinese = await shop.call('POST', '/api/v1/orders/quote?lang=zh-CN', {
      ...{ token: buyer.token, body: { items: skus.map((sku_id) => ({ sku_id, qty: 1 })), points_use: 300 } },
    });
    expect(inChinese.data.discounts).toMatchObject([{ type_label: '积分抵扣', name: '积分抵扣' }]);
    expect(quoted.data.items.map((item: { payable_amount: number }) => item.payable_amount)).toEqual([8, 4]);
    const { id, total } = await at.order(buyer, skus, { points_use: 300, to: 'unpaid' });
    expect(total).toBe(12);
    expect(await at.balanceOf(buyer)).toBe(700);
    await at.send('POST', `/api/v1/orders/${id}/cancel`, buyer.token);
    await dispatchEvents(shop);
    expect(await at.rowsOf(buyer)).toEqual([
      [2, -300],
      [2, 300],
    ]);
    expect(await at.balanceOf(buyer)).toBe(1_000);
  });

  test('are charged up to what is left to pay, and an order of 0.00 is paid without money', async () => {
    await shop.server.runtime.settings.set('pay.instant', false);
    const buyer = await at.buyerWith(5_000);
    const { id, total } = await at.order(buyer, await at.skusAt(1_290), { points_use: 5_000, to: 'paid' });
    expect([id > 0, total]).toEqual([true, 0]);
    expect(await at.balanceOf(buyer)).toBe(3_710);
    await shop.server.runtime.settings.unset('pay.instant');
    await shop.server.runtime.settings.set('pay.instant', true);
  });

  test.each([undefined, '', 0, null])('are not used without a choice: %s', async (points_use) => {
    const buyer = await at.buyerWith(100);
    expect((await at.place(buyer, await at.skusAt(500), points_use)).data).toMatchObject({ total_amount: 5 });
    expect(await at.balanceOf(buyer)).toBe(100);
  });

  test('beyond the balance are refused alike in quote and order, and nonsense with the name of the field', async () => {
    const buyer = await at.buyerWith(99);
    const skus = await at.skusAt(500);
    for (const answer of [await at.quote(buyer, skus, 100), await at.place(buyer, skus, 100)])
      expect(answer).toMatchObject({ status: 200, code: 20001, message: expect.stringContaining('points_use') });
    for (const points_use of [-1, 1.5, 'many', 1e12])
      for (const answer of [await at.quote(buyer, skus, points_use), await at.place(buyer, skus, points_use)])
        expect(answer).toMatchObject({ code: 400, message: expect.stringContaining('points_use') });
    expect(await at.rowsOf(buyer)).toEqual([]);
  });

  test('that an order of a batch uses are not there for the next one', async () => {
    const { id } = await at.buyerWith(100);
    const [sku_id] = await at.skusAt(1_000);
    const pipeline = openPricePipeline([pointsStep(shop.server.runtime)]);
    const request = (points_use: number) => ({
      ...{ user_id: id, choices: { points_use } },
      lines: [{ sku_id: sku_id!, product_id: 1, activity_product_id: 0, qty: 1, price: 1_000 }],
    });
    const requests = [request(60), request(60), request(40)];
    const scope = { requests, userIds: [id], skuIds: [sku_id!], activityProductIds: [], now: new Date(), lock: true };
    await shop.database.sql.begin(async (tx) => {
      const facts = await pipeline.load(tx, scope);
      const first = pipeline.price(requests[0]!, facts, scope.now);
      pipeline.take(first, facts);
      expect(first.total_amount).toBe(940);
      expect(() => pipeline.price(requests[1]!, facts, scope.now)).toThrow('points_use: you have only 40 points');
      expect(pipeline.price(requests[2]!, facts, scope.now).total_amount).toBe(960);
    });
  });

  test('of many concurrent orders are exact: the balance is spent to the point and never below 0', async () => {
    const buyer = await at.buyerWith(1_000);
    const [sku] = await at.skusAt(1_000);
    const answers = await Promise.all(Array.from({ length: 40 }, () => at.place(buyer, [sku!], 70)));
    const placed = answers.filter(({ code }) => code === 0);
    expect(placed).toHaveLength(14);
    expect(answers.filter(({ code }) => code === 20001)).toHaveLength(26);
    expect(await at.balanceOf(buyer)).toBe(20);
    const cancels = placed.flatMap(({ data }) => [data.id, data.id]);
    await Promise.all(
      cancels.map((id: number) => shop.call('POST', `/api/v1/orders/${id}/cancel`, { token: buyer.token })),
    );
    await dispatchEvents(shop);
    expect(await at.balanceOf(buyer)).toBe(1_000);
  });
});

describe('refunds', () => {
  test('return the points in proportion to the money, and the rest with the last money', async () => {
    const buyer = await at.buyerWith(100);
    // 10.00 for three pieces, of which points pay 1.00.
    const order = await at.order(buyer, await at.skusAt(1_000), { points_use: 100, qty: 3, to: 'shipped' });
    expect(order.total).toBe(29);
    await at.refund(buyer, order, { qty: 1 });
    await dispatchEvents(shop);
    // 9.67 of 29.00
    expect(await at.rowsOf(buyer)).toEqual([
      [2, -100],
      [2, 33],
    ]);
    await at.refund(buyer, order, { qty: 2 });
    await dispatchEvents(shop);
    expect(await at.balanceOf(buyer)).toBe(100);
  });

  test('of an order of 0.00 return the points of the goods', async () => {
    const buyer = await at.buyerWith(4_001);
    const skus = await at.skusAt(1_000, 3_001);
    const order = await at.order(buyer, skus, { points_use: 4_001, to: 'shipped' });
    expect(order.total).toBe(0);
    await at.refund(buyer, order, { line: 0 });
    await dispatchEvents(shop);
    expect(await at.balanceOf(buyer)).toBe(1_000);
    await at.refund(buyer, order, { line: 1 });
    await dispatchEvents(shop);
    expect(await at.balanceOf(buyer)).toBe(4_001);
  });

  test('before the shipment end the order and return all points once', async () => {
    const buyer = await at.buyerWith(10);
    const order = await at.order(buyer, await at.skusAt(1_000), { points_use: 10, to: 'paid' });
    await at.refund(buyer, order);
    await dispatchEvents(shop);
    await shop.database.sql`
      insert into runtime.outbox (name, subject, data, occurred_at)
      select name, subject, data, occurred_at from runtime.outbox where subject = ${`order:${order.id}`} order by id`;
    await dispatchEvents(shop);
    expect(await at.rowsOf(buyer)).toEqual([
      [2, -10],
      [2, 10],
    ]);
  });
});

describe('completed orders', () => {
  test('earn once, by the rate of their completion, and refunds take it back', async () => {
    const buyer = await at.buyerWith(0);
    const order = await at.order(buyer, await at.skusAt(2_599), { qty: 2, to: 'completed' });
    await dispatchEvents(shop);
    expect(await at.rowsOf(buyer)).toEqual([[4, 51]]);
    await shop.database.sql`
      insert into runtime.outbox (name, subject, data, occurred_at)
      select name, subject, data, occurred_at from runtime.outbox, generate_series(1, 2)
      where subject = ${`order:${order.id}`} and name = 'order.completed'`;
    await shop.server.runtime.settings.set('points.order_points_rate', 5);
    await dispatchEvents(shop);
    await at.refund(buyer, order, { qty: 1 });
    await dispatchEvents(shop);
    await shop.server.runtime.settings.unset('points.order_points_rate');
    // 25.99 of 51.98 are left.
    expect(await at.rowsOf(buyer)).toEqual([
      [4, 51],
      [4, -26],
    ]);
  });

  test('earn for what was not refunded before, and nothing when the setting is off', async () => {
    const buyer = await at.buyerWith(0);
    const order = await at.order(buyer, await at.skusAt(1_000), { qty: 3, to: 'shipped' });
    await at.refund(buyer, order, { qty: 1 });
    await at.send('POST', `/api/v1/orders/${order.id}/review`, buyer.token, { content: 'Good' });
    await dispatchEvents(shop);
    expect(await at.rowsOf(buyer)).toEqual([[4, 20]]);
    await shop.server.runtime.settings.set('points.enable_order_points', false);
    await at.order(buyer, await at.skusAt(1_000), { to: 'completed' });
    await dispatchEvents(shop);
    await shop.server.runtime.settings.unset('points.enable_order_points');
    expect(await at.balanceOf(buyer)).toBe(20);
  });

  test('a refund takes back at most what the shopper still has', async () => {
    const buyer = await at.buyerWith(0);
    const order = await at.order(buyer, await at.skusAt(3_000), { to: 'completed' });
    await dispatchEvents(shop);
    await at.order(buyer, await at.skusAt(3_000), { points_use: 25, to: 'unpaid' });
    await at.refund(buyer, order);
    await dispatchEvents(shop);
    expect(await at.rowsOf(buyer)).toEqual([
      [4, 30],
      [2, -25],
      [4, -5],
    ]);
  });
});
