import { modules, modulesOf } from '@tradepost/app';
import { type Module, openModules } from '@tradepost/module';
import { noRest } from '@tradepost/runtime';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { type ModuleShop, openModuleShop } from '@tradepost/testing/module-shop';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { insertProduct } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** A shop switches its marketing modules off for some time. Shoppers keep what they used for orders that were cancelled meanwhile. */
const off = ['marketing', 'vip', 'points', 'checkin', 'points-mall', 'distribution'];
const offToo = ['activities', 'seckill', 'group-buy', 'bargain'];
const fewer = modulesOf({ modules: [...off, ...offToo].map((name) => `-${name}`) });
let database: TestDatabase;
let shop: ModuleShop;
beforeAll(async () => {
  database = await cloneDatabase();
  shop = await openModuleShop(database, modules);
});
afterAll(async () => {
  await shop?.close();
  await database?.drop();
});

/** Runs the events and the job as a worker with these modules does. */
async function work(of: ModuleShop, running: readonly Module[], jobs: readonly unknown[] = []) {
  const { tasks, loops, close } = await openModules(of.runtime, running);
  const signal = new AbortController().signal;
  try {
    for (const { run } of loops) await run(signal, noRest);
    for (const payload of jobs) await tasks['orders.release_uses']!(payload, { log: of.runtime.log, signal });
  } finally {
    await close();
  }
}

const waiting = async () => {
  const rows = await database.sql<{ key: string; soon: boolean }[]>`
    select key, run_at between now() + interval '1 minute' and now() + interval '15 minutes' as soon
    from graphile_worker.jobs where key like 'orders.release_uses:%' order by key`;
  return rows.map(({ key, soon }) => [key.split(':')[1], soon]);
};

test('uses of orders that were cancelled while modules were off are released when they are on again', async () => {
  const { sql } = database;
  const [ann, seller] = [await shop.shopper(), await shop.shopper()];
  const goods = await insertProduct(database, { price: 3_000, stocks: [10, 10] });
  const [sold, plain] = goods.sku_ids as [number, number];
  await sql`
    with sale as (
      insert into activities.activities (type, name, start_at, end_at)
      values ('seckill', 'Sale', now() - interval '1 hour', now() + interval '1 day') returning id)
    insert into activities.activity_products (id, activity_id, product_id, sku_id, activity_price, total_stock_limit)
    overriding system value select 900, id, ${goods.id}, ${sold}, 1000, 1 from sale`;
  await sql`
    with d as (insert into distribution.distributors (user_id, level, status) values (${seller.id}, 1, 'active') returning id)
    insert into distribution.bindings (user_id, distributor_id) select ${ann.id}, id from d`;
  const staff = await shop.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  const send = async (by: ModuleShop, method: string, path: string, token: string, body?: unknown) => {
    const answer = await by.call(method, path, { token, ...(body === undefined ? {} : { body }) });
    expect(`${path}: ${answer.message}`).toBe(`${path}: success`);
    return answer.data;
  };
  const coupon = await send(shop, 'POST', '/admin/api/marketing/coupons', staff, {
    ...{ name: 'Ten off', type: 1, discount: 10 },
  });
  await send(shop, 'POST', `/api/v1/coupons/${coupon.id}/claim`, ann.token);
  const [mine] = await send(shop, 'GET', '/api/v1/user/coupons', ann.token);
  await send(shop, 'POST', '/admin/api/points/adjust', staff, { user_id: ann.id, points: 500, remark: '' });
  const body = {
    address_id: ann.address_id,
    items: [{ sku_id: sold, activity_product_id: 900 }, { sku_id: plain }],
    ...{ coupon_ids: [mine.id], points_use: 300 },
  };
  const order = await send(shop, 'POST', '/api/v1/orders', ann.token, body);
  expect(order).toMatchObject({ discount_amount: 13, total_amount: 27 });
  const state = async () => ({
    coupon: (await send(shop, 'GET', '/api/v1/user/coupons', ann.token))[0].status,
    points: (await send(shop, 'GET', '/api/v1/points/balance', ann.token)).points,
    sold: (await sql`select sold_qty from activities.activity_products where id = 900`)[0]!.sold_qty,
    commission: (await sql`select status from distribution.commissions where order_id = ${order.id}`)[0]!.status,
  });
  const used = { coupon: 2, points: 200, sold: 1, commission: 'candidate' };
  expect(await state()).toEqual(used);

  const without = await openModuleShop(database, fewer, {}, modules);
  try {
    await send(without, 'POST', `/api/v1/orders/${order.id}/cancel`, ann.token);
    await work(without, fewer);
    const steps = ['activity', 'coupon', 'distribution', 'points'];
    expect(await waiting()).toEqual(steps.map((step) => [step, true]));
    // The modules are still off: the jobs wait again.
    await work(without, fewer, [...steps.map((step) => ({ step })), {}]);
    expect(await waiting()).toEqual(steps.map((step) => [step, true]));
    expect(await state()).toEqual(used);
  } finally {
    await without.close();
  }

  const free = { coupon: 1, points: 500, sold: 0, commission: 'cancelled' };
  await work(shop, modules, [{ step: 'coupon' }]);
  expect(await state()).toEqual({ ...used, coupon: 1 });
  await work(shop, modules, [{ step: 'activity' }, { step: 'distribution' }, { step: 'points' }]);
  expect(await state()).toEqual(free);
  // A later order uses the coupon again: neither a repeat of the jobs nor the cron takes it away.
  const next = await send(shop, 'POST', '/api/v1/orders', ann.token, body);
  await Promise.all([work(shop, modules, [{ step: 'coupon' }, {}]), work(shop, modules, [{}])]);
  expect(await state()).toMatchObject({ coupon: 2, points: 200, sold: 1 });
  await send(shop, 'POST', `/api/v1/orders/${next.id}/cancel`, ann.token);
  await work(shop, modules);
  expect(await state()).toEqual(free);
  expect(await auditViolations(sql)).toEqual([]);
});

/** What a shop loses without a module: pages of the console and permissions. The module points needs `points_mall:view` too. */
const switchedOff: [name: string, pages: string[], permissions: string[]][] = [
  ['seckill', ['/seckill/activities', '/marketing/seckill/activity'], ['seckill:view', 'seckill:edit']],
  ['group-buy', ['/group-buy/activities', '/marketing/group-buy/product'], ['group_buy:view', 'group_buy:delete']],
  ['bargain', ['/bargain/products', '/marketing/bargain/activity'], ['bargain:view', 'bargain:edit']],
  ['marketing', ['/marketing/coupon'], ['marketing:view', 'marketing:edit']],
  ['vip', ['/vip/plans', '/vip/levels', '/vip/coupon-rules'], ['vip:view', 'vip:edit']],
  ['points-mall', ['/points-mall/products', '/points-mall/exchanges'], []],
  ['checkin', ['/checkin/rules', '/checkin/logs'], ['checkin:view', 'checkin:config']],
  ['distribution', ['/distribution/withdrawals', '/distribution/config'], ['distribution:view', 'distribution:delete']],
];

test.each(switchedOff)(
  'without %s a shop sells, its audits pass, and its pages and permissions are gone',
  async (name, pages, codes) => {
    const seen = async (of: ModuleShop) => {
      const token = await of.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
      type Group = { menus: { children: { path: string }[] }[] };
      const { groups } = (await of.call('GET', '/admin/api/menus', { token })).data as { groups: Group[] };
      const paths = groups.flatMap(({ menus }) => menus.flatMap(({ children }) => children.map(({ path }) => path)));
      const { data } = await of.call('GET', '/admin/api/permissions', { token });
      return [...paths, ...(data as string[])];
    };
    const all = await seen(shop);
    expect(all).toEqual(expect.arrayContaining([...pages, ...codes]));
    const rest = modulesOf({ modules: [`-${name}`] });
    const without = await openModuleShop(database, rest, {}, modules);
    try {
      const left = await seen(without);
      expect(left.filter((one) => pages.includes(one) || codes.includes(one))).toEqual([]);
      expect(all).toEqual(expect.arrayContaining(left));
      const buyer = await without.shopper();
      const { sku_ids } = await insertProduct(database, { price: 3_000 });
      const items = [{ sku_id: sku_ids[0] }];
      const send = async (method: string, path: string, body?: unknown) => {
        const answer = await without.call(method, path, {
          token: buyer.token,
          ...(body === undefined ? {} : { body }),
        });
        expect(`${path}: ${answer.message}`).toBe(`${path}: success`);
        return answer.data;
      };
      expect(await send('POST', '/api/v1/orders/quote', { items })).toMatchObject({ total_amount: 30 });
      const [paid, cancelled] = [
        await send('POST', '/api/v1/orders', { address_id: buyer.address_id, items }),
        await send('POST', '/api/v1/orders', { address_id: buyer.address_id, items }),
      ];
      await send('POST', `/api/v1/orders/${paid.id}/pay`);
      await send('POST', `/api/v1/orders/${cancelled.id}/cancel`);
      await work(without, rest);
      expect(await send('GET', `/api/v1/orders/${paid.id}`)).toMatchObject({ status: 2, total_amount: 30 });
      expect(await without.brokenAudits()).toEqual([]);
    } finally {
      await without.close();
    }
  },
);
