import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterEach, expect, test } from 'vitest';
import { modules } from './modules.ts';
import { seedDemo } from './seed-demo.ts';

let database: TestDatabase;
afterEach(() => database.drop());

const accountsIn = async () => {
  const rows = await database.sql`
    select username from identity.shoppers where is_demo union all select username from identity.staff where is_demo`;
  return rows.map((row) => row.username).sort();
};

test('two instances that start together seed one demo shop', async () => {
  database = await cloneDatabase();
  const both = await Promise.all([seedDemo(database.sql), seedDemo(database.sql)]);
  const seeded = both.filter((result) => result !== null);
  expect(seeded).toEqual([{ products: expect.any(Number), skus: expect.any(Number), accounts: 3 }]);
  const [row] = await database.sql<{ products: number; skus: number }[]>`
    select (select count(*)::int from catalog.products) as products, (select count(*)::int from catalog.product_skus) as skus`;
  expect(seeded).toMatchObject([row!]);
  expect(await accountsIn()).toEqual(['admin', 'demo', 'demo2']);
  const live = await database.sql`select page_key from content.decor_variants where is_published order by page_key`;
  expect(live.map(({ page_key }) => page_key)).toEqual(['index', 'pc']);
});

test('a shop without the catalogue module gets demo accounts once', async () => {
  database = await cloneDatabase();
  const chosen = modules.filter(({ name }) => name === 'runtime' || name === 'identity');
  expect(await seedDemo(database.sql, chosen)).toEqual({ products: 0, skus: 0, accounts: 3 });
  expect(await seedDemo(database.sql, chosen)).toBeNull();
  expect(await accountsIn()).toEqual(['admin', 'demo', 'demo2']);
});

test('a database with products gets no demo shop and no demo accounts', async () => {
  database = await cloneDatabase();
  await database.sql`insert into catalog.products (title, price) values ('Own', 100)`;
  expect(await seedDemo(database.sql)).toBeNull();
  expect(await accountsIn()).toEqual([]);
});
