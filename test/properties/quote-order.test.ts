import { auditViolations } from '@tradepost/testing/audit-violations';
import { dispatchEvents } from '@tradepost/testing/dispatch-events';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

/**
 * An order costs what its quote says, line by line, with every price step of the shop: activities of the three kinds, a bargain, member
 * prices, full reductions, coupons and points. Otherwise shoppers are charged another amount than they were shown.
 */
let shop: Shop;
let buyer: Awaited<ReturnType<Shop['shopper']>>;
let staff: string;
let pairs: Pair[];
let coupons: number[];
const grantedPoints = 3_000;

type Pair = { sku_id: number; activity_product_id: number };
type Line = Pair & { qty: number; price: number; payable_amount: number; discounts: { amount: number }[] };
type Priced = {
  goods_amount: number;
  discount_amount: number;
  freight_amount: number;
  total_amount: number;
  amount_breakdown: object;
  discounts: { amount: number }[];
  items: Line[];
};

async function send(method: string, path: string, token: string, body?: unknown) {
  const answer = await shop.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  if (answer.code !== 0) throw new Error(`${method} ${path}: ${answer.code} ${answer.message}`);
  return answer.data;
}

/** Sells a product of 19.99 in a running activity of a kind. Returns the ids of its row. */
async function startActivity(kind: string, prices: object, fields: object = {}) {
  const { id: product_id, sku_ids } = await insertProduct(shop.database, { price: 1_999, stocks: [10_000] });
  const times = { start_at: new Date(Date.now() - 3_600_000), end_at: new Date(Date.now() + 36_000_000) };
  const { id: activity_id } = await send('POST', `/admin/api/${kind}/activities`, staff, {
    ...{ name: kind, ...times, ...fields },
  });
  const sku_id = sku_ids[0]!;
  const row = { product_id, sku_id, limit_per_order: 3, total_stock_limit: 500, ...prices };
  await send('PUT', `/admin/api/${kind}/activities/${activity_id}/products`, staff, [row]);
  const [stored] = (await send('GET', `/admin/api/${kind}/products?activity_id=${activity_id}`, staff)).list;
  return { activity_id, product_id, sku_id, activity_product_id: stored.id as number };
}

/** Makes the buyer a member, and gives a product a member price. */
async function sellToMembers(): Promise<number> {
  const { id: product_id, sku_ids } = await insertProduct(shop.database, { price: 4_567, stocks: [10_000] });
  await send('POST', '/admin/api/vip/levels', staff, { name: 'Gold', growth_threshold: 0 });
  await send('POST', '/admin/api/vip/plans', staff, { name: 'Free', months: 1, price: 0 });
  const [level, plan] = await Promise.all(
    ['levels', 'plans'].map(async (kind) => (await send('GET', `/admin/api/vip/${kind}`, staff)).list[0]),
  );
  const price = { product_id, sku_id: 0, level_id: level.id, vip_discount_rate: 0.877 };
  await send('POST', '/admin/api/vip/sku-prices', staff, price);
  await send('POST', '/api/v1/vip/open', buyer.token, { plan_id: plan.id });
  return sku_ids[0]!;
}

/** Coupons of all types and stack rules, each claimed once by the buyer. */
async function claimCoupons(): Promise<number[]> {
  for (const stack_rule of ['exclusive', 'same_type', 'cross_type'])
    for (const [type, discount, min_amount] of [
      [1, 6.5, 30],
      [2, 0.93, 0],
      [3, 1.01, 0],
    ]) {
      const coupon = { name: `${stack_rule} ${type}`, type, discount, min_amount, stack_rule };
      const { id } = await send('POST', '/admin/api/marketing/coupons', staff, coupon);
      await send('POST', `/api/v1/coupons/${id}/claim`, buyer.token);
    }
  return (await send('GET', '/api/v1/user/coupons', buyer.token)).map(({ id }: { id: number }) => id);
}

beforeAll(async () => {
  shop = await openShop();
  staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  buyer = await shop.shopper();
  const sale = await startActivity('seckill', { activity_price: 9.99 });
  const group = await startActivity('group-buy', { group_price: 12.34 });
  const bargain = await startActivity('bargain', { start_price: 15, floor_price: 7.77 }, { max_helpers: 1 });
  const { id } = await send('POST', '/api/v1/bargain/orders', buyer.token, bargain);
  await send('POST', `/api/v1/bargain/orders/${id}/help`, (await shop.shopper()).token);
  const ordinary = [await sellToMembers(), (await insertProduct(shop.database, { price: 1 })).sku_ids[0]!, sale.sku_id];
  pairs = [
    ...[sale, group, bargain].map(({ sku_id, activity_product_id }) => ({ sku_id, activity_product_id })),
    ...ordinary.map((sku_id) => ({ sku_id, activity_product_id: 0 })),
  ];
  for (const tiers of [
    [{ min: 20, reduce: 1.11 }],
    [
      { min: 1, reduce: 0.5 },
      { min: 90, reduce: 9.5 },
    ],
  ])
    await send('POST', '/admin/api/marketing/full-reduce', staff, { name: 'Big', tiers });
  coupons = await claimCoupons();
  await send('POST', '/admin/api/points/adjust', staff, { user_id: buyer.id, points: grantedPoints, remark: 'Hi' });
});
afterAll(() => shop?.close());

const cents = (amount: number) => Math.round(amount * 100);
const sum = (parts: readonly { amount: number }[]) => parts.reduce((all, { amount }) => all + cents(amount), 0);
/** The part of an answer that both the quote and the order have. Lines are in the order of their ids. */
function pricesIn({ goods_amount, discount_amount, freight_amount, total_amount, discounts, ...rest }: Priced) {
  const lines = rest.items
    .map(({ sku_id, activity_product_id, qty, price, payable_amount, discounts: shares }) => ({
      ...{ sku_id, activity_product_id, qty, price, payable_amount, discounts: shares },
    }))
    .sort((a, b) => a.sku_id - b.sku_id || a.activity_product_id - b.activity_product_id);
  const amounts = { goods_amount, discount_amount, freight_amount, total_amount };
  return { ...amounts, amount_breakdown: rest.amount_breakdown, discounts, lines };
}

/** The amounts of an answer fit together, and none is below zero. */
function expectWhole(priced: ReturnType<typeof pricesIn>): void {
  const { lines } = priced;
  const fits = ({ payable_amount, discounts }: Line) =>
    payable_amount >= 0 && discounts.every(({ amount }) => amount > 0);
  expect(lines.every(fits)).toBe(true);
  for (const { price, qty, payable_amount, discounts } of lines)
    expect(cents(price) * qty - sum(discounts)).toBe(cents(payable_amount));
  expect(sum(lines.map(({ payable_amount: amount }) => ({ amount })))).toBe(cents(priced.total_amount));
  expect(sum(priced.discounts)).toBe(cents(priced.discount_amount));
  expect(cents(priced.goods_amount) - cents(priced.discount_amount)).toBe(cents(priced.total_amount));
}

const baskets = fc.record({
  lines: fc
    .uniqueArray(fc.nat({ max: 5 }), { minLength: 1, maxLength: 6 })
    .chain((of) =>
      fc.tuple(...of.map((pair) => fc.record({ pair: fc.constant(pair), qty: fc.integer({ min: 1, max: 4 }) }))),
    ),
  // Most sets of several coupons are refused by their stack rules.
  chosen: fc.oneof(
    fc.uniqueArray(fc.nat({ max: 8 }), { maxLength: 1 }),
    fc.uniqueArray(fc.nat({ max: 8 }), { maxLength: 5 }),
  ),
  points: fc.constantFrom(0, 0, 1, 137, 999, grantedPoints, grantedPoints + 1),
});

type Basket = typeof baskets extends fc.Arbitrary<infer basket> ? basket : never;
const plainBasket = { lines: [{ pair: 3, qty: 1 }], chosen: [] };

test('any basket: quote and order are equal or refused alike, and a cancelled order returns all that it used', async () => {
  let placed = 0;
  let refused = 0;
  const quoteOf = (body: object) => shop.call('POST', '/api/v1/orders/quote', { token: buyer.token, body });
  await fc.assert(
    fc.asyncProperty(baskets, async ({ lines, chosen, points }) => {
      await shop.database.sql`delete from orders.cart_lines where user_id = ${buyer.id}`;
      const items = lines.map(({ pair }) => pairs[pair]!);
      for (const [index, { qty }] of lines.entries())
        await send('POST', '/api/v1/cart/add', buyer.token, { ...items[index], qty });
      const choices = { coupon_ids: chosen.map((at) => coupons[at]!), points_use: points };
      const quote = await quoteOf({ items, ...choices });
      const reversed = await quoteOf({ items: items.toReversed(), ...choices });
      const body = { address_id: buyer.address_id, items, ...choices };
      const order = await shop.call('POST', '/api/v1/orders', { token: buyer.token, body });
      expect([order.code, order.message]).toEqual([quote.code, quote.message]);
      if (quote.code !== 0) {
        refused += 1;
        expect(quote.code).toBe(20001);
        return;
      }
      placed += 1;
      const shown = pricesIn(quote.data);
      expectWhole(shown);
      expect(pricesIn(reversed.data)).toEqual(shown);
      const stored = await send('GET', `/api/v1/orders/${order.data.id}`, buyer.token);
      expect(pricesIn(stored)).toEqual(shown);
      await send('POST', `/api/v1/orders/${order.data.id}/cancel`, buyer.token);
    }),
    {
      numRuns: 30,
      // One that is placed and one that is refused: whatever is drawn, both sides are tried.
      examples: [0, grantedPoints + 1].map((points): [Basket] => [{ ...plainBasket, points }]),
    },
  );
  expect(placed).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
  expect((await send('GET', '/api/v1/points/balance', buyer.token)).points).toBe(grantedPoints);
  const mine = await send('GET', '/api/v1/user/coupons', buyer.token);
  expect(mine.map(({ status }: { status: number }) => status)).toEqual(Array(9).fill(1));
  expect(await shop.database.sql`select from activities.activity_products where sold_qty <> 0`).toEqual([]);
  expect(await shop.database.sql`select from bargain.bargains where order_id is not null`).toEqual([]);
  await dispatchEvents(shop);
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});

test('a coupon more never makes an order more expensive', async () => {
  await shop.database.sql`delete from orders.cart_lines where user_id = ${buyer.id}`;
  const items = pairs.slice(3);
  const totalOf = async (coupon_ids: readonly number[]) =>
    cents((await send('POST', '/api/v1/orders/quote', buyer.token, { items, coupon_ids })).total_amount);
  const sets = fc.uniqueArray(fc.nat({ max: 8 }), { minLength: 1, maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(sets, async (set) => {
      const ids = set.map((at) => coupons[at]!);
      expect(await totalOf(ids)).toBeLessThanOrEqual(await totalOf(ids.slice(1)));
    }),
    { numRuns: 20 },
  );
});
