import { auditViolations } from '@tradepost/testing/audit-violations';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mallOf } from './testing/mall-shop.ts';

/** Exchanges of all three kinds at the same time, with the coupons of the shop. */
let shop: Shop;
let mall: ReturnType<typeof mallOf>;
let staff: string;
beforeAll(async () => {
  shop = await openShop();
  staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  mall = mallOf(shop, shop.database.sql, staff);
});
afterAll(() => shop?.close());

const coupon = async (fields: object) =>
  (await shop.call('POST', '/admin/api/marketing/coupons', { token: staff, body: { type: 3, discount: 1, ...fields } }))
    .data.id;

test('goods, coupons and virtual products at once keep stock, limits and totals, and cost exactly their points', async () => {
  const { sql } = shop.database;
  const shoppers = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const shopper = await shop.shopper();
      await mall.give(shopper.id, 1_000);
      return shopper;
    }),
  );
  const coupon_id = await coupon({ name: 'Scarce', total_count: 9, per_limit: 1 });
  const price = 10;
  const kinds = await Promise.all([
    mall.product({ points_price: price, stock: 7, limit_per_user: 1 }),
    mall.product({ points_price: price, type: 'virtual', virtual_content: 'CODE', limit_per_day: 2 }),
    mall.product({ points_price: price, type: 'coupon', coupon_id }),
  ]);
  const answers = await Promise.all(
    [1, 2, 3].flatMap(() =>
      shoppers.flatMap((shopper) =>
        kinds.map(async ({ id, type }) => ({ type, ...(await mall.exchange(shopper, id)) })),
      ),
    ),
  );
  expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([0, 500]));
  const made = answers.filter(({ code }) => code === 0);
  const countOf = (kind: string) => made.filter(({ type }) => type === kind).length;
  const expected = { physical: 7, virtual: 40, coupon: 9 };
  expect({ physical: countOf('physical'), virtual: countOf('virtual'), coupon: countOf('coupon') }).toEqual(expected);
  for (const { data } of made)
    expect(data).toMatchObject({
      status: data.product_type === 'physical' ? 'pending_ship' : 'completed',
      virtual_content: data.product_type === 'virtual' ? 'CODE' : '',
    });
  const [sums] = await sql`
    select sum(balance)::int as left, (select count(*)::int from points_mall.exchanges) as exchanges,
      (select count(distinct (u.id, u.user_id))::int from marketing.user_coupons u
       join points_mall.exchanges e on u.id = any(e.coupon_user_ids) and u.user_id = e.user_id and u.coupon_id = ${coupon_id}) as coupons
    from points.accounts where user_id = any(${shoppers.map(({ id }) => id)}::bigint[])`;
  expect(sums).toEqual({ left: 20 * 1_000 - made.length * price, exchanges: made.length, coupons: 9 });
  const { list } = (await shop.call('GET', '/admin/api/marketing/coupons', { token: staff })).data;
  // Staff have sent none.
  expect(list[0]).toMatchObject({ id: coupon_id, claimed_count: 9, used_count: 0 });
  const dashboard = await shop.call('GET', '/admin/api/dashboard', { token: staff });
  expect(dashboard.data.pending_exchanges).toBe(7);
  expect(await auditViolations(sql)).toEqual([]);
});

test.each([
  ['disabled', { status: 0 }],
  ['ended', { end_at: '2020-01-01' }],
])('a product whose coupon is %s is refused and costs nothing', async (_state, change) => {
  const shopper = await shop.shopper();
  await mall.give(shopper.id, 100);
  const coupon_id = await coupon({ name: 'Gone' });
  const { id } = await mall.product({ type: 'coupon', coupon_id, points_price: 10 });
  await shop.call('PUT', `/admin/api/marketing/coupons/${coupon_id}`, { token: staff, body: change });
  const refused = await mall.exchange(shopper, id);
  expect(refused).toMatchObject({ status: 200, code: 500, data: null, message: expect.stringContaining('ended') });
  expect(await mall.balance(shopper.id)).toBe(100);
});
