import { modules } from '@tradepost/app';
import { defineErrors } from '@tradepost/core';
import { createStaff } from '@tradepost/identity';
import { couponIssuers, type Module } from '@tradepost/module';
import { type ModuleShop, openModuleShop } from '@tradepost/testing/module-shop';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { placeExchanges } from './exchanges/place-exchanges.ts';
import { mallOf } from './testing/mall-shop.ts';

/** Many exchanges at once. A package that exists only here issues coupon 1, ten times. */
const maxIssued = 10;
const { usedUp } = defineErrors({ usedUp: { code: 30001, en: 'Used up', 'zh-CN': '已领完' } });
const coupons: Module = {
  name: 'coupons-of-the-test',
  open: () => ({
    contributions: [
      couponIssuers.add({
        async issue(tx, rows) {
          await tx`select from test_coupons where id = 1 for update`;
          const issued = await tx<{ id: number }[]>`
            insert into test_user_coupons (user_id, coupon_id)
            select user_id, coupon_id from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (user_id bigint, coupon_id bigint)
            limit greatest(0, ${maxIssued} - (select count(*) from test_user_coupons)) returning id`;
          return rows.map((_, n) => issued[n]?.id ?? usedUp());
        },
        named: async (_sql, ids) => new Map(ids.filter((id) => id === 1).map((id) => [id, 'Coupon'])),
        withNames: async () => new Map(),
      }),
    ],
  }),
};

let database: TestDatabase;
let shop: ModuleShop;
let mall: ReturnType<typeof mallOf>;
beforeAll(async () => {
  database = await cloneDatabase();
  const { sql } = database;
  await sql`create table test_coupons (id bigint primary key)`;
  await sql`insert into test_coupons values (1)`;
  await sql`create table test_user_coupons (id bigint generated always as identity, user_id bigint, coupon_id bigint)`;
  // The coupons of the shop are those of this test.
  const withoutCoupons = modules.filter(({ name }) => name !== 'marketing');
  shop = await openModuleShop(database, [...withoutCoupons, coupons]);
  await createStaff(sql, { username: 'owner', password: 'owner-secret' });
  const body = { username: 'owner', password: 'owner-secret' };
  mall = mallOf(shop, sql, (await shop.call('POST', '/admin/api/auth/login', { body })).data.token);
});
beforeEach(() => database.sql`truncate test_user_coupons`);
afterAll(async () => {
  await shop?.close();
  await database?.drop();
});

const shoppers = (count: number, points: number) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const shopper = await shop.shopper();
      await mall.give(shopper.id, points);
      return shopper;
    }),
  );
const succeeded = (answers: readonly { code: number }[]) => answers.filter(({ code }) => code === 0).length;
const issued = async () => (await database.sql`select from test_user_coupons`).length;

test('100 exchanges at once of a stock of 10 are exactly 10; after their cancellation all points are back', async () => {
  const all = await shoppers(50, 1_000);
  const { id } = await mall.product({ stock: 10, points_price: 10 });
  const answers = await Promise.all([...all, ...all].map((shopper) => mall.exchange(shopper, id)));
  expect(succeeded(answers)).toBe(10);
  expect(new Set(answers.filter(({ code }) => code !== 0).map(({ message }) => message))).toEqual(
    new Set(['The product is sold out']),
  );
  const made = answers.filter(({ code }) => code === 0).map(({ data }) => data.id);
  expect(new Set(answers.flatMap(({ data }) => data?.exchange_no ?? [])).size).toBe(10);
  // Each is cancelled twice at once, and its shopper confirms it at the same time as half of them.
  const cancelled = await Promise.all(
    [...made, ...made].map((each) => mall.admin('PUT', `/exchanges/${each}/cancel`, {})),
  );
  expect(succeeded(cancelled)).toBe(10);
  expect(await mall.shelf(id)).toMatchObject({ stock: 10, sold_count: 0, sold_out: false });
  for (const { id: userId } of all) expect(await mall.balance(userId)).toBe(1_000);
});

test('a shopper who sends 40 requests at once gets no more than the limit, and never spends more points than there are', async () => {
  const [ann, bo, cy] = await shoppers(3, 100);
  const limited = await mall.product({ points_price: 1, limit_per_user: 5, limit_per_day: 4 });
  const first = await Promise.all(Array.from({ length: 40 }, () => mall.exchange(ann!, limited.id)));
  expect(succeeded(first)).toBe(4);
  // Each in a transaction of its own, as from several processes.
  const request = { user_id: cy!.id, product_id: limited.id, qty: 1, address: null };
  const alone = await Promise.all(
    Array.from({ length: 12 }, () => placeExchanges({ runtime: shop.runtime, coupons: undefined }, [request])),
  );
  expect(alone.flat().filter((outcome) => !(outcome instanceof Error))).toHaveLength(4);
  // Two products, so that two transactions spend the balance at the same time.
  const products = await Promise.all([mall.product({ points_price: 7 }), mall.product({ points_price: 7 })]);
  const spent = await Promise.all(Array.from({ length: 40 }, (_, n) => mall.exchange(bo!, products[n % 2]!.id)));
  expect(succeeded(spent)).toBe(14);
  expect(await mall.balance(bo!.id)).toBe(2);
});

test('a cancellation and a confirmation at once: one of them wins, and points return only with the first', async () => {
  const all = await shoppers(20, 100);
  const { id } = await mall.product({ points_price: 10, stock: 20 });
  const outcomes = await Promise.all(
    all.map(async (shopper) => {
      const { data } = await mall.exchange(shopper, id);
      const [cancelled, confirmed] = await Promise.all([
        mall.admin('PUT', `/exchanges/${data.id}/cancel`, {}),
        shop.call('POST', `/api/v1/points/exchanges/${data.id}/confirm`, { token: shopper.token }),
      ]);
      expect([cancelled.code, confirmed.code].sort()).toEqual([0, 500]);
      expect(await mall.balance(shopper.id)).toBe(cancelled.code === 0 ? 100 : 90);
      return cancelled.code === 0;
    }),
  );
  expect((await mall.shelf(id)).sold_count).toBe(outcomes.filter((cancelled) => !cancelled).length);
});

test('the deletion of a product and its exchanges at once leave no open exchange without a product', async () => {
  const all = await shoppers(10, 100);
  for (let round = 0; round < 5; round += 1) {
    const { id } = await mall.product({ points_price: 1 });
    const [removed, ...answers] = await Promise.all([
      mall.admin('DELETE', `/products/${id}`),
      ...all.map((shopper) => mall.exchange(shopper, id)),
    ]);
    const open = await database.sql`select from points_mall.exchanges where product_id = ${id}`;
    expect(open).toHaveLength(succeeded(answers));
    if (removed!.code === 0) expect(open).toHaveLength(0);
  }
});

test('a coupon product issues a coupon for each piece; refused coupons cost nothing and do not stop the other requests', async () => {
  const [ann, ...others] = await shoppers(16, 100);
  const coupon = await mall.product({ type: 'coupon', coupon_id: 1, points_price: 10 });
  const { data } = await mall.exchange(ann!, coupon.id, { qty: 3 });
  expect(data).toMatchObject({
    status: 'completed',
    qty: 3,
    points_cost: 30,
    coupon_user_ids: [1, 2, 3],
    coupon_user_id: 1,
  });
  const mug = await mall.product({ points_price: 10 });
  const answers = await Promise.all(
    others.flatMap((shopper) => [mall.exchange(shopper, coupon.id), mall.exchange(shopper, mug.id)]),
  );
  const [coupons, mugs] = [0, 1].map((rest) => answers.filter((_, n) => n % 2 === rest));
  expect(succeeded(mugs!)).toBe(15);
  expect(succeeded(coupons!)).toBe(7);
  expect(coupons!.find(({ code }) => code !== 0)!.message).toMatch(/used up/);
  expect(await issued()).toBe(10);
  let spent = 0;
  for (const { id } of others) spent += 100 - (await mall.balance(id));
  expect(spent).toBe(22 * 10);
});

test('points that are spent elsewhere after the balance was read: neither exchange nor coupon is written', async () => {
  const [ann] = await shoppers(1, 10);
  const coupon = await mall.product({ type: 'coupon', coupon_id: 1, points_price: 10 });
  // The coupon waits for this lock, after the balance was read.
  const answer = await database.sql.begin(async (tx) => {
    await tx`select from test_coupons for update`;
    const exchanging = mall.exchange(ann!, coupon.id);
    for (let waiting = 0; waiting === 0; ) {
      const [row] = await database.sql<{ waiting: number }[]>`
        select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      waiting = row!.waiting;
    }
    await mall.give(ann!.id, -4);
    return { exchanging };
  });
  expect(await answer.exchanging).toMatchObject({ code: 500, message: expect.stringMatching(/10 needed, 6 left/) });
  expect(await issued()).toBe(0);
  expect(await database.sql`select from points_mall.exchanges where user_id = ${ann!.id}`).toHaveLength(0);
  expect(await mall.shelf(coupon.id)).toMatchObject({ sold_count: 0 });
});

test('a coupon that exists no longer is refused; saving the product does not ask for it again', async () => {
  const [ann] = await shoppers(1, 100);
  expect(
    await mall.admin('POST', '/products', { title: 'X', type: 'coupon', points_price: 1, coupon_id: 2 }),
  ).toMatchObject({
    code: 400,
    message: expect.stringContaining('coupon_id'),
  });
  const { id, ...row } = await mall.product({ type: 'coupon', coupon_id: 1, points_price: 10 });
  await database.sql`update points_mall.products set coupon_id = 2 where id = ${id}`;
  expect((await mall.exchange(ann!, id)).message).toMatch(/any more/);
  expect(await mall.balance(ann!.id)).toBe(100);
  expect((await mall.admin('PUT', `/products/${id}`, { ...row, coupon_id: 2, title: 'Y' })).code).toBe(0);
});

test('after all of this the audits find nothing', async () => {
  expect(await shop.brokenAudits()).toEqual([]);
});
