import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seedDemo } from '@tradepost/app';
import { createStaff } from '@tradepost/identity';
import type { Config } from '@tradepost/runtime';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { startProcess } from '@tradepost/testing/processes/process';
import { chinese } from '@tradepost/testing/routes/contract';
import { cloneDatabase } from '@tradepost/testing/servers/database';
import { buyOne, moneyOf, openPayment, paySecret } from '@tradepost/testing/servers/payment-gateway';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterEach, describe, expect, test } from 'vitest';

/** Instant payment works only in a demo shop, or when an operator has enabled it. */
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
async function shopWith(flags: Partial<Config>, settings: Readonly<Record<string, unknown>>): Promise<Shop> {
  const shop = await openShop(flags, settings);
  closers.push(shop.close);
  return shop;
}
/** The settings of a shop that was not configured. */
const unset = { 'pay.instant': null };
const ways = (shop: Shop, { token, order_id }: { token: string; order_id: number }, lang?: string) => [
  () => shop.call('POST', `/api/v1/orders/${order_id}/pay`, { token, lang }),
  () => shop.call('POST', '/api/pay/create', { token, lang, body: { order_id, provider: 'instant' } }),
];

describe('instant payment', () => {
  test.each([
    ['outside production', false],
    ['in production', true],
  ])('is refused with its own text in a database without the demo seed, %s', async (_where, production) => {
    const shop = await shopWith({ production }, unset);
    const bought = await buyOne(shop);
    for (const pay of ways(shop, bought))
      expect(await pay()).toMatchObject({
        status: 200,
        code: 500,
        message: expect.stringContaining('Instant payment'),
      });
    for (const pay of ways(shop, bought, 'zh-CN')) expect((await pay()).message).toMatch(chinese);
    expect(await moneyOf(shop, bought.order_id)).toMatchObject({ status: 1, payments: [] });
    // It is refused also when it is the default provider of the shop.
    await shop.server.runtime.settings.set('pay.provider', 'instant');
    const body = { order_id: bought.order_id };
    expect(await shop.call('POST', '/api/pay/create', { token: bought.token, body })).toMatchObject({ code: 500 });
  });

  test('is not needed for an order that costs 0.00: both ways pay it, once', async () => {
    const shop = await shopWith({}, { ...unset, 'pay.sandbox.secret': paySecret });
    const { sql } = shop.database;
    const costly = await buyOne(shop);
    // As coupons or points do. A discount of a type that a package owns would need its use.
    const discounts = JSON.stringify([{ type: 'all', name: 'All of it', amount: 1290 }]);
    for (const way of [0, 1]) {
      const free = await buyOne(shop);
      const { token, order_id } = free;
      await sql`
        update orders.orders set discount_amount = goods_amount, total_amount = 0, discounts = ${discounts}::text::jsonb
        where id = ${order_id}`;
      await sql`
        update orders.order_items set payable_amount = 0, discounts = ${discounts}::text::jsonb where order_id = ${order_id}`;
      const atProvider = await shop.call('POST', '/api/pay/create', { token, body: { order_id, provider: 'sandbox' } });
      expect(atProvider).toMatchObject({ code: 500, message: expect.stringContaining('costs 0.00') });
      expect(await moneyOf(shop, order_id)).toMatchObject({ status: 1, payments: [] });

      const answers = await Promise.all(Array.from({ length: 5 }, () => ways(shop, free)[way]!()));
      expect(answers.filter(({ code }) => code === 0)).toHaveLength(1);
      expect(await moneyOf(shop, order_id)).toMatchObject({
        ...{ status: 2, inventory_status: 'confirmed', confirms: 1, refunds: [] },
        payments: [{ status: 'succeeded', amount: 0 }],
      });
      expect(await ways(shop, costly)[way]!()).toMatchObject({ code: 500 });
    }
    expect(await moneyOf(shop, costly.order_id)).toMatchObject({ status: 1, payments: [] });
    expect(await auditViolations(sql)).toEqual([]);
  });

  test('works in a shop with the demo seed, but not with NODE_ENV=production', async () => {
    const shop = await shopWith({}, unset);
    await seedDemo(shop.database.sql);
    await shop.server.runtime.settings.reload();
    const [first, second] = [await buyOne(shop), await buyOne(shop)];
    expect((await ways(shop, first)[0]!()).code).toBe(0);
    expect((await ways(shop, second)[1]!()).data).toMatchObject({ provider: 'instant', status: 'succeeded' });

    const data = await mkdtemp(join(tmpdir(), 'tradepost-production-'));
    closers.push(() => rm(data, { recursive: true, force: true }));
    const third = await buyOne(shop);
    const production = await startProcess(['--only', 'api', '--data', data], {
      DATABASE_URL: shop.database.url,
      NODE_ENV: 'production',
    });
    closers.push(async () => {
      production.child.kill('SIGTERM');
      await production.ended;
    });
    const answer = await fetch(`${production.url}/api/v1/orders/${third.order_id}/pay`, {
      method: 'POST',
      headers: { authorization: `Bearer ${third.token}` },
    });
    expect(await answer.json()).toMatchObject({ code: 500 });
    expect((await moneyOf(shop, third.order_id)).status).toBe(1);
  });

  test('works in production when an operator enabled it, and not in a demo shop when an operator disabled it', async () => {
    const on = await shopWith({ production: true }, { 'pay.instant': true });
    const bought = await buyOne(on);
    expect((await ways(on, bought)[0]!()).code).toBe(0);
    const off = await shopWith({}, { 'pay.instant': false });
    await seedDemo(off.database.sql);
    await off.server.runtime.settings.reload();
    expect(await ways(off, await buyOne(off))[0]!()).toMatchObject({ code: 500 });
  });

  test('a shop of an older demo seed is recognised by its demo administrator', async () => {
    const shop = await shopWith({}, unset);
    const { sql } = shop.database;
    const migration = await readFile(new URL('../../../sql/0012_runtime_demo_shop.sql', import.meta.url), 'utf8');
    const marked = async () => {
      await sql.unsafe(migration);
      return (await sql`select value from runtime.settings where key = 'shop.demo'`).map((row) => row.value);
    };
    await createStaff(sql, { username: 'own', password: 'long enough 1' });
    expect(await marked()).toEqual([]);
    await createStaff(sql, { username: 'admin', password: 'admin123', isDemo: true });
    expect(await marked()).toEqual([true]);
  });

  test('only the demo seed can mark a shop as a demo shop', async () => {
    const shop = await shopWith({}, unset);
    const { settings } = shop.server.runtime;
    await expect(settings.set('shop.demo', true)).rejects.toThrow('shop.demo can not be set');
    await expect(settings.unset('shop.demo')).rejects.toThrow('shop.demo can not be set');
    const env = { DATABASE_URL: shop.database.url };
    expect(await runCommandInProcess(['settings', 'set', 'shop.demo', 'true'], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('shop.demo can not be set'),
    });
  });
});

test('the development cashier is off when the shop has another cashier page', async () => {
  const shop = await shopWith({}, { 'pay.sandbox.secret': paySecret });
  const opened = await openPayment(shop);
  await shop.server.runtime.settings.set('pay.sandbox.cashier_url', 'https://cashier.example/pay');
  const path = `/api/pay/sandbox/${opened.payment_no}`;
  expect(await shop.call('POST', path, { body: {} })).toMatchObject({ code: 404 });
  expect((await fetch(`${shop.url}/pay/sandbox/${opened.payment_no}`)).status).toBe(404);
  expect((await moneyOf(shop, opened.order_id)).status).toBe(1);
});

describe('an external database', () => {
  test('gets demo data with its known passwords only on explicit request', async () => {
    const database = await cloneDatabase();
    closers.push(() => database.drop());
    const data = await mkdtemp(join(tmpdir(), 'tradepost-external-'));
    closers.push(() => rm(data, { recursive: true, force: true }));
    const env = { DATABASE_URL: database.url, TRADEPOST_DATA: data };
    const facts = async () =>
      (
        await database.sql`
          select (select count(*)::int from identity.staff) as staff, (select count(*)::int from identity.shoppers) as shoppers,
                 (select count(*)::int from catalog.products) as products,
                 (select value from runtime.settings where key = 'shop.demo') as demo,
                 (select count(*)::int from runtime.settings where key = 'pay.sandbox.secret') as secrets`
      )[0];
    const empty = { staff: 0, shoppers: 0, products: 0, demo: null, secrets: 0 };
    const start = async (args: string[], more: Record<string, string> = {}) => {
      const server = await startProcess(['--only', 'api', ...args], { ...env, ...more });
      server.child.kill('SIGTERM');
      await server.ended;
      return server.output();
    };
    expect(await start([])).not.toContain('admin123');
    expect(await facts()).toEqual(empty);
    for (const args of [['seed'], ['seed', '--orders', '5']])
      expect(await runCommandInProcess(args, { env })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--seed demo'),
      });
    expect(await facts()).toEqual(empty);
    expect(await start([], { TRADEPOST_SEED: 'demo' })).toContain('admin123');
    expect(await facts()).toMatchObject({ staff: 1, demo: true, secrets: 1 });
  });

  test('is filled by tradepost seed --seed demo', async () => {
    const database = await cloneDatabase();
    closers.push(() => database.drop());
    const seeded = await runCommandInProcess(['seed', '--seed', 'demo', '--json'], {
      env: { DATABASE_URL: database.url },
    });
    expect(JSON.parse(seeded.stdout).products).toBeGreaterThan(100);
    const [row] = await database.sql`select value from runtime.settings where key = 'shop.demo'`;
    expect(row!.value).toBe(true);
  });
});
