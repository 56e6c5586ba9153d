import type { Sql } from '@tradepost/postgres';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { vacuumTables } from '@tradepost/testing/vacuum';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { selectBestSellers, selectShelf, shelfPage } from './product-list-store.ts';
import { staffHits } from './product-search.ts';

/**
 * The search finds a product by the words of a shopper, in both languages: which products come first, which must not be
 * found, and the cost.
 */
let shop: Shop;
let staff: string;
let sql: Sql;
const ids: Record<string, number> = {};

type Entry = [title: string, zh?: string, subtitle?: string, sort?: number];
const shelf: Record<string, Entry> = {
  mug: ['Mug', '马克杯'],
  enamelMug: ['Enamel Mug', '搪瓷杯', 'Light, unbreakable'],
  mugRack: ['Mug rack', '马克杯架'],
  mugs: ['Set of four mugs', '马克杯四只装'],
  smug: ['Smugglers board game', '走私者桌游'],
  saucer: ['Saucer', '杯碟', 'Fits every mug of ours'],
  cotton: ['100% cotton_hundred', '棉布'],
  shirt: ['T-Shirt, blue', '蓝色T恤'],
  knife: ["Chef's knife 20cm/8in", '不锈钢菜刀'],
  bottle: ['Steel bottle', '不锈钢水杯'],
  cup: ['Cup, blue', '杯子 蓝色'],
  watch: ['Mechanical watch', '机械手表'],
  phone: ['Phone case', '手机壳'],
  café: ['Café crème bowls', '欧蕾碗'],
  slash: ['a\\b', ''],
  emoji: ['Party 🎉 hats', '派对帽'],
  runner: ['Running shoes', '跑步鞋'],
};
beforeAll(async () => {
  shop = await openShop();
  sql = shop.database.sql;
  staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  for (const [key, [title, zh, subtitle = '', sort = 0]] of Object.entries(shelf)) {
    const [row] = await sql<{ id: number }[]>`
      insert into catalog.products (title, subtitle, price, sort, translations)
      values (${title}, ${subtitle}, 100, ${sort}, ${sql.json(zh ? { 'zh-CN': { title: zh, subtitle: '' } } : {})}) returning id`;
    ids[key] = row!.id;
  }
});
afterAll(() => shop?.close());

const nameOf = (id: number) => Object.keys(ids).find((key) => ids[key] === id) ?? String(id);
const found = async (keyword: string, lang = 'en') => {
  const { data } = await shop.call('GET', `/api/v1/products?size=100&keyword=${encodeURIComponent(keyword)}`, { lang });
  expect(data.total).toBe(data.list.length);
  return data.list.map((row: { id: number }) => nameOf(row.id)) as string[];
};

describe('hits and their order', () => {
  test.each([
    [
      'the title itself, its beginning, its words, its inside, other texts',
      'mug',
      ['mug', 'mugRack', 'enamelMug', 'mugs', 'smug', 'saucer'],
    ],
    ['any case', 'MUG', ['mug', 'mugRack', 'enamelMug', 'mugs', 'smug', 'saucer']],
    ['full width, as Chinese keyboards make it', 'ＭＵＧ', ['mug', 'mugRack', 'enamelMug', 'mugs', 'smug', 'saucer']],
    ['a plural for a singular', 'enamel mugs', ['enamelMug']],
    ['words in another order', 'mug enamel', ['enamelMug']],
    ['a stem', 'run', ['runner']],
    ['an inflected form', 'runs', ['runner']],
    ['a word with the small words around it', 'a mug for the rack', ['mugRack']],
    ['the inside of a word', 'uggl', ['smug']],
    ['the beginning of a word', 'mecha', ['watch']],
    ['a comma between the words', 'cup blue', ['cup']],
    ['one Chinese character', '杯', ['cup', 'saucer', 'bottle', 'mugs', 'mugRack', 'enamelMug', 'mug']],
    ['two', '搪瓷', ['enamelMug']],
    ['two that stand apart elsewhere', '手机', ['phone']],
    ['four: together, or as two words', '蓝色杯子', ['cup']],
    ['five: a word of three in front', '不锈钢水杯', ['bottle']],
    ['three: what both have', '不锈钢', ['bottle', 'knife']],
    ['mixed', '马克杯 rack', ['mugRack']],
    ['mixed without a space', '蓝色t恤', ['shirt']],
    ['an accent', 'café', ['café']],
    ['a percent sign', '100%', ['cotton']],
    ['nothing but a percent sign', '%', ['cotton']],
    ['nothing but an underscore', '_', ['cotton']],
    ['an underscore between letters', 'n_h', ['cotton']],
    ['a backslash', 'a\\b', ['slash']],
    ['a quote', "chef's", ['knife']],
    ['a hyphen', 't-shirt', ['shirt']],
    ['a slash and a unit', '20cm/8in', ['knife']],
    ['an emoji', '🎉', ['emoji']],
    ['blanks around', '  saucer  ', ['saucer']],
    ['operators are ignored: both words are required, and no product has both', "mug' | 'cup", []],
  ])('%s: "%s"', async (_what, keyword, expected) => {
    expect(await found(keyword as string)).toEqual(expected);
  });

  test.each([
    'mug & !rack',
    'mug:*',
    '!mug',
    '(mug',
    'mug <-> rack',
    '\\',
    "''",
    '"mug"',
    'mug:ABCD',
    '\ufffd',
    '-',
    '𠮷',
    '한국',
    'ﾏｸﾞ',
  ])('what looks like a query language is text: %s', async (keyword) => {
    expect(Array.isArray(await found(keyword))).toBe(true);
  });

  test('the hits do not depend on the language of the reader', async () => {
    expect(await found('搪瓷杯', 'en')).toEqual(['enamelMug']);
    expect(await found('enamel', 'zh-CN')).toEqual(['enamelMug']);
  });

  test('a keyword has at most a hundred characters; a longer one is refused with the name of the field', async () => {
    for (const text of [
      'x'.repeat(100),
      '杯'.repeat(100),
      '杯'.repeat(99),
      'q '.repeat(50),
      '^ '.repeat(50),
      '"'.repeat(100),
    ])
      expect(await found(text)).toEqual([]);
    const refused = await shop.call('GET', `/api/v1/products?keyword=${'x'.repeat(101)}`);
    expect(refused).toMatchObject({ status: 200, code: 400, message: expect.stringContaining('keyword') });
  });

  test('equal hits are ordered by sort, then newest first; a changed title is found immediately', async () => {
    await sql`insert into catalog.products (title, price, sort) values ('Lamp oak', 1, 0), ('Lamp elm', 1, 5), ('Lamp ash', 1, 0)`;
    const { data } = await shop.call('GET', '/api/v1/products?keyword=lamp');
    expect(data.list.map((row: { title: string }) => row.title)).toEqual(['Lamp elm', 'Lamp ash', 'Lamp oak']);
    await sql`update catalog.products set title = 'Torch' where title = 'Lamp elm'`;
    expect((await shop.call('GET', '/api/v1/products?keyword=lamp')).data.total).toBe(2);
    expect((await shop.call('GET', '/api/v1/products?keyword=torches')).data.total).toBe(1);
  });

  test('the back office also finds ids, the beginning of SKU codes, and products off the shelf', async () => {
    await sql`insert into catalog.product_skus (product_id, sku_key, sku_code, price) values (${ids.phone!}, 'x', 'PC_77-Z', 1)`;
    await sql`update catalog.products set status = 0 where id = ${ids.phone!}`;
    const of = async (keyword: string) =>
      (
        await shop.call('GET', `/admin/api/products?keyword=${encodeURIComponent(keyword)}`, { token: staff })
      ).data.list.map((row: { id: number }) => nameOf(row.id));
    expect(await of('pc_77')).toEqual(['phone']);
    expect(await of('pcx77'), 'an underscore is an underscore').toEqual([]);
    expect((await of(String(ids.saucer)))[0]).toBe('saucer');
    expect(await of('手机壳')).toEqual(['phone']);
    expect(await found('手机壳'), 'but shoppers do not').toEqual([]);
    expect(await of('mug')).toEqual(['mug', 'mugRack', 'enamelMug', 'mugs', 'smug', 'saucer']);
  });
});

describe('with 20,000 products', () => {
  beforeAll(async () => {
    await sql`
      insert into catalog.products (title, price, sort, status, category_id, translations)
      select (array['Red', 'Blue', 'Green', 'Steel', 'Linen', 'Oak', 'Cotton', 'Ceramic'])[1 + n % 8] || ' '
          || (array['bowl', 'lamp', 'towel', 'chair', 'basket', 'kettle', 'plate', 'vase', 'tray', 'clock'])[1 + n / 8 % 10] || ' model' || n,
        1000 + n, n % 50, (n % 10 > 0)::int, n % 40, jsonb_build_object('zh-CN', jsonb_build_object('title',
          (array['红', '蓝', '绿', '钢', '麻', '橡', '棉', '陶'])[1 + n % 8] || '色' || chr(20000 + n % 3000) || chr(23000 + n % 2000)))
      from generate_series(1, 20000) as n`;
    await sql`
      insert into catalog.product_skus (product_id, sku_key, price, stock, sku_code)
      select id, '__default__', price, 10, 'C-' || id from catalog.products where title like '% model%'`;
    await sql`insert into catalog.products (title, price, translations)
      values ('Zyzzyva beetle', 1, ${sql.json({ 'zh-CN': { title: '象鼻虫标本' } })})`;
    await vacuumTables(sql, 'catalog.products');
    await vacuumTables(sql, 'catalog.product_skus');
  }, 120_000);

  const scans = (rows: readonly Record<string, string>[]) => {
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    return { plan, whole: /Seq Scan on (products|product_skus)\b/.test(plan) };
  };
  const paging = { page: 1, size: 20, offset: 0 };

  test.each([
    'zyzzyva',
    'beetles',
    'yzzyv',
    'model1999',
    'red lamp',
    '鼻',
    '虫标',
    '象鼻虫',
    '象鼻虫标本',
    '%',
    'zyzzyva 象鼻虫',
    'it’s',
  ])('an index answers "%s"', async (keyword) => {
    const { plan, whole } = scans(
      await sql`explain with ${shelfPage(sql, { keyword }, paging)} select * from page, counted`,
    );
    expect(whole, plan).toBe(false);
    expect(plan).toContain('products_by_');
    const inAdmin = scans(await sql`explain select * from ${staffHits(sql, keyword)}`);
    expect(inAdmin.whole, inAdmin.plan).toBe(false);
  });

  test('pages of the shelf, of a category and of the best sellers use an index too', async () => {
    await sql`
      insert into catalog.categories (id, parent_id, name) overriding system value
      select n, case when n <= 1 then 0 when n <= 7 then 1 else 2 + n % 6 end, 'c' || n from generate_series(1, 39) as n`;
    await vacuumTables(sql, 'catalog.categories', 'catalog.category_descendants');
    // All products, a leaf category of 500 products, a branch of 6 categories, the root of all 39.
    for (const filter of [{}, { category_id: 39 }, { category_id: 7 }, { category_id: 1 }]) {
      // The total of the whole shelf is counted row by row; the total of a branch is not.
      const parts = filter.category_id === undefined ? sql`page` : sql`page, counted`;
      const { plan, whole } = scans(await sql`explain with ${shelfPage(sql, filter, paging)} select * from ${parts}`);
      expect(whole, plan).toBe(false);
      const ran = await sql`explain (analyze, timing off) with ${shelfPage(sql, filter, paging)} select * from page`;
      const rows = ran
        .map((row) =>
          /Scan.* on (?:products|product_skus) .*actual rows=([\d.]+) loops=(\d+)/.exec(String(row['QUERY PLAN'])),
        )
        .reduce((sum, found) => sum + (found ? Number(found[1]) * Number(found[2]) : 0), 0);
      expect(rows, 'a page reads at most a page of each category').toBeLessThanOrEqual(39 * paging.size);
      expect(rows).toBeGreaterThan(0);
    }
    for (const category_id of [39, 7, 1]) {
      const { rows, total } = await selectShelf(sql, { category_id }, { page: 2, size: 20, offset: 20 }, 'en');
      const expected = await sql`
        select p.id from catalog.products p join catalog.category_descendants d using (category_id)
        where d.ancestor_id = ${category_id} and p.status = 1 order by p.sort desc, p.id desc`;
      expect(total).toBe(expected.length);
      expect(rows.map((row) => row.id)).toEqual(expected.slice(20, 40).map((row) => row.id));
    }
    const best = scans(
      await sql`explain select id from catalog.products where status = 1 order by sales_seen desc, sort desc, id desc limit 200`,
    );
    expect(best.plan).toContain('products_best_sellers');
    expect(await selectBestSellers(sql, 8, 'en')).toHaveLength(8);
  });

  test('pages of a broad keyword neither repeat nor lose a row, and the total is correct', async () => {
    const seen = new Set<number>();
    const first = (await shop.call('GET', '/api/v1/products?keyword=kettle&size=100')).data;
    for (let page = 1; page <= Math.ceil(first.total / 100); page += 1)
      for (const row of (await shop.call('GET', `/api/v1/products?keyword=kettle&size=100&page=${page}`)).data.list)
        seen.add(row.id);
    const [row] =
      await sql`select count(*)::int as n from catalog.products where status = 1 and title ilike '%kettle%'`;
    expect([first.total, seen.size]).toEqual([row!.n, row!.n]);
  });
});
