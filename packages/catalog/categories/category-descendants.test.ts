import { auditViolations } from '@tradepost/testing/audit-violations';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/**
 * A category includes everything below it. A shopper who opens "Home" finds the products of "Home / Kitchen / Mugs".
 */
let shop: Shop;
let token: string;
beforeAll(async () => {
  shop = await openShop();
  token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
});
afterAll(() => shop?.close());

const admin = (method: string, path: string, body?: unknown) =>
  shop.call(method, `/admin/api${path}`, { token, ...(body === undefined ? {} : { body }) });
const category = async (name: string, parent_id = 0): Promise<number> =>
  (await admin('POST', '/categories', { name, parent_id })).data.id;
type Row = { id: number; title: string };
const titlesOf = (list: Row[]) => list.map((row) => row.title);
const onShelf = async (query: string) => titlesOf((await shop.call('GET', `/api/v1/products?${query}`)).data.list);
const inAdmin = async (query: string) => titlesOf((await admin('GET', `/products?${query}`)).data.list);

async function product(title: string, category_id: number, sort = 0, status = 1): Promise<number> {
  const { id } = await insertProduct(shop.database, { title, status });
  await shop.database.sql`update catalog.products set category_id = ${category_id}, sort = ${sort} where id = ${id}`;
  return id;
}

/** The expected content of the table, found by following the parents of each category. */
const walked = () => shop.database.sql`
  with recursive up as (
    select id as category_id, id as ancestor_id, parent_id from catalog.categories
    union
    select up.category_id, c.id, c.parent_id from up join catalog.categories c on c.id = up.parent_id
  )
  select ancestor_id, category_id from up order by 1, 2`;
const stored = () => shop.database.sql`select ancestor_id, category_id from catalog.category_descendants order by 1, 2`;

describe('lists by category', () => {
  let home: number;
  let kitchen: number;
  let mugs: number;
  let garden: number;
  beforeAll(async () => {
    home = await category('Home');
    kitchen = await category('Kitchen', home);
    mugs = await category('Mugs', kitchen);
    garden = await category('Garden');
    await product('vase', home, 2);
    await product('pan', kitchen, 9);
    await product('mug one', mugs, 1);
    await product('mug two', mugs, 5);
    await product('mug off', mugs, 7, 0);
    await product('rake', garden, 8);
  });

  test('the storefront lists a category with its descendants, ordered by sort', async () => {
    expect(await onShelf(`category_id=${home}`)).toEqual(['pan', 'mug two', 'vase', 'mug one']);
    expect(await onShelf(`category_id=${kitchen}`)).toEqual(['pan', 'mug two', 'mug one']);
    expect(await onShelf(`category_id=${mugs}`)).toEqual(['mug two', 'mug one']);
    expect(await onShelf(`category_id=${garden}`)).toEqual(['rake']);
    expect(await onShelf('category_id=999999')).toEqual([]);
  });

  test('pages and totals include the descendants', async () => {
    const pages: string[] = [];
    for (const page of [1, 2, 3]) {
      const { data } = await shop.call('GET', `/api/v1/products?category_id=${home}&size=3&page=${page}`);
      expect(data.total).toBe(4);
      pages.push(...titlesOf(data.list));
    }
    expect(pages).toEqual(['pan', 'mug two', 'vase', 'mug one']);
  });

  test('a keyword is searched in the category and its descendants', async () => {
    expect((await onShelf(`category_id=${home}&keyword=mug`)).sort()).toEqual(['mug one', 'mug two']);
    expect(await onShelf(`category_id=${garden}&keyword=mug`)).toEqual([]);
  });

  test('the back office lists descendants too, with every other filter and order', async () => {
    expect(await inAdmin(`category_id=${home}`)).toEqual(['pan', 'mug off', 'mug two', 'vase', 'mug one']);
    expect(await inAdmin(`category_id=${home}&status=0`)).toEqual(['mug off']);
    expect((await inAdmin(`category_id=${home}&keyword=mug&sort_by=created`)).length).toBe(3);
    expect(await inAdmin(`category_id=${garden}&low_stock=false&sort_by=stock`)).toEqual(['rake']);
  });

  test('product_count equals the number of products that the filter finds in the back office', async () => {
    const counts = new Map<number, number>();
    for (const row of (await admin('GET', '/categories')).data) counts.set(row.id, row.product_count);
    for (const id of [home, kitchen, mugs, garden])
      expect(counts.get(id), String(id)).toBe((await admin('GET', `/products?category_id=${id}`)).data.total);
    const tree = (await admin('GET', '/categories/tree')).data;
    expect(tree.find((row: Row) => row.id === home).product_count).toBe(5);
  });

  test('a category that moves keeps its descendants', async () => {
    expect((await admin('PUT', `/categories/${kitchen}`, { parent_id: garden })).code).toBe(0);
    expect(await onShelf(`category_id=${home}`)).toEqual(['vase']);
    expect(await onShelf(`category_id=${garden}`)).toEqual(['pan', 'rake', 'mug two', 'mug one']);
    expect((await admin('PUT', `/categories/${mugs}`, { parent_id: 0 })).code).toBe(0);
    expect(await onShelf(`category_id=${garden}`)).toEqual(['pan', 'rake']);
    expect((await admin('PUT', `/categories/${garden}`, { parent_id: kitchen })).code, 'a circle').not.toBe(0);
    expect(await stored()).toEqual(await walked());
  });
});

describe('the table of descendants', () => {
  test('is updated by every write: several rows at once, parents in any order, moves, deletions', async () => {
    const { sql } = shop.database;
    const fixed = sql`insert into catalog.categories (id, parent_id, name) overriding system value`;
    // The parent is inserted after its child, in one statement and in a later one.
    await sql`${fixed} values (9002, 9001, 'b'), (9001, 0, 'a'), (9004, 9003, 'd')`;
    await sql`${fixed} values (9003, 9002, 'c')`;
    expect(await stored()).toEqual(await walked());
    await sql`update catalog.categories set parent_id = case id when 9003 then 0 else 9004 end where id in (9001, 9003)`;
    expect(await stored()).toEqual(await walked());
    await sql`update catalog.categories set name = name || '!' where id > 9000`;
    expect(await stored()).toEqual(await walked());
    await sql`delete from catalog.categories where id in (9003, 9001)`;
    expect(await stored()).toEqual(await walked());
    await sql`delete from catalog.categories where id > 9000`;
    expect((await sql`select from catalog.category_descendants where category_id > 9000`).length).toBe(0);
  });

  test('a cycle in the data ends, and other categories keep their products', async () => {
    const { sql } = shop.database;
    const [a, b] = [await category('Ring A'), await category('Ring B')];
    await sql`update catalog.categories set parent_id = ${b} where id = ${a}`;
    await sql`update catalog.categories set parent_id = ${a} where id = ${b}`;
    await product('ringed', b);
    expect(await onShelf(`category_id=${a}`)).toEqual(['ringed']);
    expect(await stored()).toEqual(await walked());
    await sql`update catalog.categories set parent_id = 0 where id = ${a}`;
    expect(await stored()).toEqual(await walked());
  });

  test('concurrent moves leave it correct', async () => {
    const ids: number[] = [];
    for (let i = 0; i < 12; i += 1) ids.push(await category(`Crowd ${i}`, i > 5 ? ids[i - 6]! : 0));
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(
        ids.map((id, i) =>
          admin('PUT', `/categories/${id}`, { parent_id: (i + round) % 3 === 0 ? 0 : ids[(i * 7) % 12] }),
        ),
      );
      expect(await stored()).toEqual(await walked());
    }
    expect((await auditViolations(shop.database.sql)).filter((line) => line.startsWith('catalog.category'))).toEqual(
      [],
    );
  });

  test('can be filled again from the categories alone, as the migration does', async () => {
    const { sql } = shop.database;
    const before = await stored();
    await sql`delete from catalog.category_descendants`;
    expect((await auditViolations(sql)).some((line) => line.startsWith('catalog.category_descendants'))).toBe(true);
    await sql`select catalog.place_categories(array(select id from catalog.categories))`;
    expect(await stored()).toEqual(before);
  });
});
