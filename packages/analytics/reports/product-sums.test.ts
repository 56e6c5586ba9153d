import { toWire } from '@tradepost/core';
import { timeZone } from '@tradepost/runtime';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rollDays } from '../days/roll-days.ts';
import { maxCountedLive, maxHotProducts } from '../limits.ts';
import { plainReports } from '../testing/plain-reports.ts';
import { insertRandomOrders, randomOf } from '../testing/random-orders.ts';

/** Sums of products and categories equal a count order by order, before the roll-up and after it, with orders of today. */
let shop: Shop;
let staff: string;
let skus: { id: number; product_id: number }[];
const categories = ['Mugs', 'Lamps'];

beforeAll(async () => {
  shop = await openShop();
  staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  const { sql } = shop.database;
  const products = [];
  for (let n = 0; n < 12; n += 1) products.push(await insertProduct(shop.database, { price: 900, stocks: [5, 20] }));
  await sql`insert into catalog.categories (name) select unnest(${categories}::text[])`;
  await sql`
    update catalog.products p set category_id = c.id from catalog.categories c
    where c.name = case p.id % 3 when 1 then 'Mugs' when 2 then 'Lamps' end`;
  skus = products.flatMap(({ id, sku_ids }) => sku_ids.map((sku) => ({ id: sku, product_id: id })));
  const random = randomOf(7);
  await insertRandomOrders(sql, random, { count: 300, days: 100, skus, now: new Date() });
  // Some products are sold today only, and the best sellers today too.
  await insertRandomOrders(sql, random, { count: 30, days: 1, skus, now: new Date() });
});
afterAll(() => shop?.close());

const get = async (path: string) => (await shop.call('GET', `/admin/api/${path}`, { token: staff, lang: 'en' })).data;
const roll = () => rollDays(shop.server.runtime, { refreshMs: 0 });

/** The sold pieces and revenue of a period by a key of the product. */
async function plainSums(days: number, keyOf: (productId: number) => string | number) {
  const { settings, now } = shop.server.runtime;
  const plain = await plainReports(shop.database.sql, settings.get(timeZone), now());
  const productOf = new Map(skus.map(({ id, product_id }) => [id, product_id]));
  const sums = new Map<string | number, { qty: number; revenue: number }>();
  for (const { sku_id, qty, revenue } of plain.period(days).skus) {
    const key = keyOf(productOf.get(sku_id)!);
    const known = sums.get(key) ?? { qty: 0, revenue: 0 };
    sums.set(key, { qty: known.qty + qty, revenue: known.revenue + revenue });
  }
  return { sums, soldSkus: plain.period(days).skus.length };
}

async function expectPlainSums(): Promise<void> {
  const { sql } = shop.database;
  const products = await plainSums(30, (id) => id);
  const best = [...products.sums]
    .map(([id, { qty }]) => [Number(id), qty] as const)
    .sort(([a, m], [b, n]) => n - m || a - b)
    .slice(0, maxHotProducts);
  const shown = (await get('dashboard')).hot_products;
  expect(shown.map(({ id, sold_qty }: { id: number; sold_qty: number }) => [id, sold_qty])).toEqual(best);
  const rows = await sql<{ id: number; name: string }[]>`
    select p.id, coalesce(c.name, 'Uncategorized') as name
    from catalog.products p left join catalog.categories c on c.id = p.category_id`;
  const nameOf = new Map(rows.map(({ id, name }) => [id, name]));
  for (const days of [1, 7, 30, 90]) {
    const { sums, soldSkus } = await plainSums(days, (id) => nameOf.get(id)!);
    const { category_sales, summary } = await get(`analytics/products?days=${days}`);
    const pairs = category_sales.map(({ name, value }: { name: string; value: number }) => [name, value]);
    expect(Object.fromEntries(pairs)).toEqual(
      Object.fromEntries([...sums].map(([name, { revenue }]) => [name, toWire(revenue)])),
    );
    expect(summary.active_sku_rate).toBeCloseTo(Math.min(1, soldSkus / skus.length), 4);
  }
}

test('hot products and sales by category equal a count over the orders', { timeout: 60_000 }, async () => {
  await expectPlainSums();
  expect(await roll()).toBeGreaterThan(0);
  await expectPlainSums();
});

test('a product that has moved to another category moves with the next refresh, without a changed order', async () => {
  await shop.database.sql`
    update catalog.products set category_id = (select id from catalog.categories where name = 'Mugs') where category_id = 0`;
  expect(await roll()).toBe(0);
  await expectPlainSums();
  const names = (await get('analytics/products?days=90')).category_sales.map((row: { name: string }) => row.name);
  expect(names.toSorted()).toEqual(['Lamps', 'Mugs']);
});

test('a small catalogue is counted at once; of a large one the stored counts are shown while they are renewed', async () => {
  const { sql } = shop.database;
  await roll();
  await insertProduct(shop.database, { price: 30_000, stocks: [1] });
  const total = async () => (await get('analytics/products')).summary.total_sku;
  expect(await total()).toBe(skus.length + 1);
  await sql`update analytics.catalogue_counts set total = ${maxCountedLive + 1}`;
  expect(await total()).toBe(maxCountedLive + 1);
  await sql`update analytics.catalogue_counts set counted_at = now() - interval '20 minutes'`;
  expect(await total()).toBe(skus.length + 1);
});
