import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { seedDemo } from '@tradepost/app';
import type { CsvFault } from '@tradepost/csv';
import { openDatabase, type Sql } from '@tradepost/postgres';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { openShop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { exportProducts, importProducts } from '../index.ts';

/**
 * A catalogue as a file: an export is imported unchanged, edits are stored, and faults are reported with their line.
 */
const fixture = (name: string) => readFile(join(import.meta.dirname, '../../../fixtures/catalog', name));

async function exported(sql: Sql): Promise<string> {
  let text = '';
  await exportProducts(sql, async (part) => {
    text += part;
  });
  return text;
}

/** Imports in chunks of `size` bytes, so that lines do not begin at the start of a chunk. */
async function imported(sql: Sql, file: string | Uint8Array, { dryRun = false, size = 1_000 } = {}) {
  const bytes = Buffer.from(file as string);
  const faults: CsvFault[] = [];
  const chunks = function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
  const done = await importProducts(sql, Readable.from(chunks()), { dryRun, onFault: (fault) => faults.push(fault) });
  const { created, updated, unchanged, failed } = done;
  return { done, counts: { created, updated, unchanged, failed }, faults };
}

const skusOf = (sql: Sql) => sql<{ sku_key: string; price: number; stock: number; status: string; sku_code: string }[]>`
  select s.sku_key, s.price, s.stock, s.status, s.sku_code from catalog.product_skus s order by s.product_id, s.id`;

/** The catalogue without data that the file does not contain: dates, sales, ids of SKUs and pictures. */
const contents = (sql: Sql) => sql`
  select p.id, p.title, p.subtitle, p.cover, p.price, p.origin_price, p.status, p.sort, p.detail, p.spec_schema, p.translations,
    c.name, c.icon, c.sort as category_sort, c.translations as category_words, up.name as parent,
    (select jsonb_agg(jsonb_build_array(s.sku_key, s.sku_code, s.attrs, s.price, s.stock, s.status) order by s.id)
      from catalog.product_skus s where s.product_id = p.id) as skus,
    (select jsonb_agg(jsonb_build_array(i.url, i.sort) order by i.sort, i.id)
      from catalog.product_images i where i.product_id = p.id) as images
  from catalog.products p left join catalog.categories c on c.id = p.category_id
  left join catalog.categories up on up.id = c.parent_id order by p.id`;

/** The rows that were written since then. The list is empty when nothing changed. */
const stamps = (sql: Sql) => sql`
  select 'p' as kind, id, xmin::text as by from catalog.products
  union all select 's', id, xmin::text from catalog.product_skus
  union all select 'i', id, xmin::text from catalog.product_images
  union all select 'c', id, xmin::text from catalog.categories order by 1, 2`;

describe('the demo shop', () => {
  let source: TestDatabase;
  let target: TestDatabase;
  let file: string;
  beforeAll(async () => {
    source = await cloneDatabase();
    target = await cloneDatabase();
    await seedDemo(source.sql);
    // Texts that spreadsheet programs, CSV readers or our own code could misread.
    await source.sql`
      insert into catalog.products (title, subtitle, cover, price, origin_price, status, sort, category_id, detail,
        translations, spec_schema)
      select '=HYPERLINK("http://x")', E'two\nlines; and, "quotes"', '''@cover', 5, 0, 0, -3,
        (select max(id) from catalog.categories),
        '{"version": 1, "blocks": [{"id": "a", "type": "text", "props": {"text": "a\\r\\nb;c"}}]}',
        '{"en": {"title": "", "specs": {"-a=b": "x; y"}}, "zh-CN": {"subtitle": "\\"\\"", "detail": {"version": 1, "blocks": []}}}',
        '[{"name": "-a=b", "values": ["1/2", "\\\\; x"]}]'`;
    await source.sql`
      insert into catalog.product_skus (product_id, sku_key, sku_code, attrs, price, stock, status)
      select max(p.id), k, c, a::jsonb, 5, 3, s from catalog.products p, (values
        ('-a=b:1/2', '+1', '[{"name": "-a=b", "value": "1/2"}]', 'active'),
        ('-a=b:\\; x', '', '[{"name": "-a=b", "value": "\\\\; x"}]', 'active'),
        ('__default__', 'old', '[]', 'inactive')) as v (k, c, a, s) group by k, c, a, s`;
    await source.sql`
      insert into catalog.product_images (product_id, url, sort)
      select max(p.id), u, s from catalog.products p, (values ('/b.svg', 7), ('/a.svg', 7), ('=c', 9)) as v (u, s) group by u, s`;
    file = await exported(source.sql);
  });
  afterAll(() => Promise.all([source.drop(), target.drop()]));

  test('is imported completely into an empty shop: categories, languages, pictures, specs, prices, stock', async () => {
    const { counts, faults } = await imported(target.sql, file);
    expect(faults).toEqual([]);
    expect(counts).toMatchObject({ updated: 0, unchanged: 0, failed: 0 });
    expect(await contents(target.sql)).toEqual(await contents(source.sql));
    expect(await exported(target.sql)).toBe(file);
    const [next] = await target.sql<{ id: number }[]>`
      insert into catalog.products (title, price) values ('one more', 1) returning id`;
    expect(next!.id).toBeGreaterThan(counts.created);
    await target.sql`delete from catalog.products where id = ${next!.id}`;
  });

  test('is not changed by a second import of the same file: no row is written', async () => {
    const before = await stamps(target.sql);
    const { counts, faults } = await imported(target.sql, file);
    expect(faults).toEqual([]);
    expect(counts).toMatchObject({ created: 0, updated: 0, failed: 0 });
    expect(await stamps(target.sql)).toEqual(before);
  });

  test('no cell of the export begins a formula', async () => {
    expect(file).toContain(`"'=HYPERLINK(""http://x"")"`);
    expect(file).not.toMatch(/(^|,)"?[=+@]/m);
  });

  test('stores the edits of the file and changes nothing else', async () => {
    const edited = file.replaceAll('搪瓷', '珐琅');
    expect(edited).not.toBe(file);
    const dry = await imported(target.sql, edited, { dryRun: true });
    expect(await exported(target.sql)).toBe(file);
    const { counts, faults } = await imported(target.sql, edited);
    expect(faults).toEqual([]);
    expect(counts).toEqual(dry.counts);
    expect(counts).toMatchObject({ created: 0, failed: 0 });
    expect(counts.updated).toBeGreaterThan(0);
    expect(await exported(target.sql)).toBe(edited);
  });
});

describe('a file', () => {
  let database: TestDatabase;
  let sql: Sql;
  beforeEach(async () => {
    database = await cloneDatabase();
    sql = database.sql;
    return () => database.drop();
  });

  test('written by hand creates products, and a second import does not create them again', async () => {
    const file = await fixture('products.csv');
    expect((await imported(sql, file)).counts).toEqual({ created: 2, updated: 0, unchanged: 0, failed: 0 });
    const [mug] = await contents(sql);
    expect(mug).toMatchObject({
      title: 'Enamel mug',
      name: 'Mugs',
      parent: 'Kitchen',
      price: 1290,
      origin_price: 1590,
    });
    expect(mug!.translations['zh-CN']).toEqual({
      title: '搪瓷杯',
      specs: { Colour: '颜色', Cream: '米白', Navy: '藏青' },
    });
    expect(await skusOf(sql)).toEqual([
      { sku_key: 'Colour:Cream', price: 1290, stock: 40, status: 'active', sku_code: 'MUG-C' },
      { sku_key: 'Colour:Navy', price: 1350, stock: 25, status: 'active', sku_code: 'MUG-N' },
      { sku_key: '__default__', price: 3400, stock: 12, status: 'active', sku_code: 'BOARD' },
    ]);
    expect((await imported(sql, file)).counts).toEqual({ created: 0, updated: 0, unchanged: 2, failed: 0 });
  });

  test('of a spreadsheet program can be read: byte order mark, semicolons, CRLF, decimal commas, quoted line ends', async () => {
    const file = await fixture('spreadsheet.csv');
    for (const size of [1, 2, 3, 1_000]) {
      const { counts, faults } = await imported(sql, file, { size });
      expect(faults).toEqual([]);
      expect(counts.created + counts.unchanged).toBe(2);
    }
    const [vase, lamp] = await contents(sql);
    expect(vase).toMatchObject({ title: 'Vase "Tall"', price: 2950, subtitle: 'Glass; hand-made\r\nin two sizes' });
    expect(lamp).toMatchObject({ title: 'Lamp', price: 8000 });
  });

  test.each([
    ['GBK', () => fixture('gbk.csv'), 'line 2: is not UTF-8'],
    ['UTF-16', async () => Buffer.from('\ufeffhandle,title\n', 'utf16le'), 'line 1: is UTF-16'],
    ['nothing', async () => Buffer.from(''), 'has no header'],
    ['an unknown column', async () => Buffer.from('handle,titel\n'), 'no column titel'],
    ['no key', async () => Buffer.from('title,price\n'), 'needs product_id or handle'],
  ])('with %s is refused as a whole and writes nothing', async (_what, file, message) => {
    await expect(imported(sql, await file())).rejects.toThrow(message);
    expect(await contents(sql)).toEqual([]);
  });

  test('with bad lines: each fault is reported with line and field, and every other product is written', async () => {
    await imported(sql, 'product_id,title,price,sku_code,stock\n1,Held,5,HELD,10\n');
    await sql`update catalog.product_skus set reserved_stock = 4`;
    const lines: [line: string, field: string | null, message?: RegExp][] = [
      ['g1,Good one,1.00,G1,1,1,,', null],
      ['a,Too few cells,1.00', '-', /3 cells, the header has 8/],
      ['b,No price,cheap,B,1,1,,', 'price', /amount/],
      ['c,Three decimals,1.005,C,1,1,,', 'price', /amount/],
      ['d,Status,1,D,1,7,,', 'status', /1/],
      ['e,NUL\0,1,E,1,1,,', 'title', /NUL/],
      [`f,${'x'.repeat(201)},1,F,1,1,,`, 'title', /200/],
      ['g1,Same handle later,1,G9,1,1,,', 'handle', /line 2/],
      ['h,Half a piece,1,H,1.5,1,,', 'stock', /whole number/],
      ['i,Less than none,1,I,-1,1,,', 'stock', />=0/],
      [',No key,1,J,1,1,,', 'product_id', /handle/],
      ['k,"stray" quote,1,K,1,1,,', '-', /quotes/],
      ['l,No code,1,,1,1,,', 'sku_code', /second import/],
      ['m,Specs,1,M,1,1,,Colour', 'specs', /name=value/],
      ['n,Category,1,N,1,1,A / / B,', 'category', /names/],
      ['o,Code of another,1,G1,1,1,,', 'sku_code', /line 2/],
      ['p,Two kinds,1,P1,1,1,,Colour=Red', null],
      ['p,,,P2,1,,,Size=L', 'specs', /Colour/],
      ['q,Twice,1,Q1,1,1,,Colour=Red', null],
      ['q,,,Q2,1,,,Colour=Red', 'specs', /line 20/],
      ['r,One name,1,R1,1,1,,Colour=Red', null],
      ['r,Other name,,R2,1,,,Colour=Blue', 'title', /line 22/],
      ['HELD,,,HELD,3,,,', 'stock', /open orders hold/],
      ['g2,Good two,2.00,G2,1,1,,', null],
    ];
    const file = `handle,title,price,sku_code,stock,status,category,specs\n${lines.map(([line]) => line).join('\n')}\n"open`;
    const header = file.replace('HELD,,,HELD', 'HELD,Held,5,HELD');
    const { done, faults } = await imported(sql, header);
    const expected = lines.flatMap(([, field], index) => (field ? [`${index + 2} ${field}`] : []));
    expect(faults.map(({ line, field }) => `${line} ${field}`).sort()).toEqual([...expected, '26 -'].sort());
    for (const [index, [, field, message]] of lines.entries())
      if (field) expect(faults.find(({ line }) => line === index + 2)?.message).toMatch(message!);
    const titles = await sql<{ title: string }[]>`select title from catalog.products order by id`;
    expect(titles.map((row) => row.title)).toEqual(['Held', 'Good one', 'Good two']);
    expect(done).toMatchObject({ created: 2, faults: expected.length + 1 });
  });

  test('of another shop does not overwrite products that have the same ids by chance', async () => {
    await imported(sql, 'product_id,title,price,sku_code\n1,Mug,5,MUG\n2,Plate,6,PLATE\n');
    const { faults, counts } = await imported(sql, 'product_id,title,price,sku_code\n1,Dish,7,PLATE\n');
    expect(counts.failed).toBe(1);
    expect(faults[0]).toMatchObject({ line: 2, field: 'product_id' });
    expect(faults[0]!.message).toMatch(/product 1 does not have these codes, product 2 has them/);
    // Without the id the codes of the SKUs identify the product.
    await imported(sql, 'product_id,handle,title,price,sku_code\n,x,Dish,7,PLATE\n');
    expect((await contents(sql)).map((row) => [row.id, row.title])).toEqual([
      [1, 'Mug'],
      [2, 'Dish'],
    ]);
  });

  test('changes stock only where it was edited, and never overwrites sales made in the meantime', async () => {
    await imported(sql, 'product_id,title,price,sku_code,stock\n1,A,5,A,10\n2,B,5,B,10\n3,C,5,C,10\n');
    const file = await exported(sql);
    await sql`update catalog.product_skus set stock = stock - 3, sold = sold + 3`;
    const edited = file.replace(',B,,10,10,', ',B,,15,10,').replace(/5\.00/g, '6.00');
    const { counts, faults } = await imported(sql, edited);
    expect(faults).toEqual([
      expect.objectContaining({ field: 'stock', message: expect.stringMatching(/was 10.* is 7/) }),
    ]);
    expect(counts).toEqual({ created: 0, updated: 2, unchanged: 0, failed: 1 });
    expect((await skusOf(sql)).map(({ stock, price }) => [stock, price])).toEqual([
      [7, 600],
      [7, 500],
      [7, 600],
    ]);
    // Without the column that contains the original stock, the stock is set as written.
    await imported(sql, 'product_id,stock\n2,15\n');
    expect((await skusOf(sql)).map(({ stock }) => stock)).toEqual([7, 15, 7]);
  });

  test('with some columns changes only these; other SKUs stay; a new value completes the matrix', async () => {
    await imported(sql, await fixture('products.csv'));
    await imported(sql, 'product_id,status\n1,0\n');
    expect((await contents(sql))[0]).toMatchObject({ status: 0, title: 'Enamel mug', name: 'Mugs' });
    await imported(sql, 'product_id,specs,sku_price\n1,Colour=Navy,14\n');
    await imported(sql, 'product_id,specs,sku_code,stock\n1,Colour=Red,MUG-R,3\n');
    expect((await skusOf(sql)).slice(0, 4)).toEqual(
      [
        { sku_key: 'Colour:Cream', price: 1290, stock: 40, status: 'active', sku_code: 'MUG-C' },
        { sku_key: 'Colour:Navy', price: 1400, stock: 25, status: 'active', sku_code: 'MUG-N' },
        { sku_key: '__default__', price: 3400, stock: 12, status: 'active', sku_code: 'BOARD' },
        { sku_key: 'Colour:Red', price: 1290, stock: 3, status: 'active', sku_code: 'MUG-R' },
      ].sort((a, b) => (a.sku_code === 'BOARD' ? 1 : b.sku_code === 'BOARD' ? -1 : 0)),
    );
    await imported(sql, 'product_id,specs,sku_status\n1,Colour=Cream,inactive\n');
    const [mug] = await contents(sql);
    expect(mug!.spec_schema).toEqual([{ name: 'Colour', values: ['Navy', 'Red'] }]);
    // Other specifications: the SKUs of the earlier ones become inactive.
    await imported(sql, 'product_id,specs,stock\n1,Size=L; Colour=Navy,1\n1,Size=S; Colour=Red,1\n');
    const active = (await skusOf(sql)).filter((sku) => sku.status === 'active' && sku.sku_code !== 'BOARD');
    expect(active.map(({ sku_key, stock }) => [sku_key, stock])).toEqual([
      ['Colour:Navy|Size:L', 1],
      ['Colour:Red|Size:S', 1],
      ['Colour:Navy|Size:S', 0],
      ['Colour:Red|Size:L', 0],
    ]);
  });

  test('needs few statements for any number of products', async () => {
    const rows = (price: string) =>
      Array.from(
        { length: 400 },
        (_, n) => `p${n},Product ${n},${price},P${n}-A,Size=A,C / ${n % 7}\np${n},,,P${n}-B,Size=B,`,
      );
    const file = (price: string) => `handle,title,price,sku_code,specs,category\n${rows(price).join('\n')}`;
    let sent = 0;
    const counted = openDatabase(database.url, { max: 1, onStatement: () => (sent += 1) });
    try {
      expect((await imported(counted, file('1.00'))).counts.created).toBe(400);
      expect((await imported(counted, file('2.00'))).counts.updated).toBe(400);
    } finally {
      await counted.end();
    }
    // Two batches with begin and commit, and the queries of the driver once per connection.
    expect(sent).toBeLessThan(40);
    expect((await skusOf(sql)).every((sku) => sku.price === 100)).toBe(true);
  });
});

test('an import changes prices while orders are placed: no order fails, each has one price, no stock is lost', async () => {
  const shop = await openShop({ databasePool: 8 });
  try {
    const { sql } = shop.database;
    const priced = (price: string) =>
      `product_id,title,price,sku_code,specs,stock\n${Array.from({ length: 20 }, (_, n) => [
        `${n + 1},Mug ${n},${price},M${n}-A,Size=A,1000`,
        `${n + 1},,,M${n}-B,Size=B,1000`,
      ])
        .flat()
        .join('\n')}`;
    await imported(sql, priced('5.00'));
    const file = await exported(sql);
    const skus = await sql<{ id: number }[]>`select id from catalog.product_skus order by id`;
    const shoppers = await Promise.all([shop.shopper(), shop.shopper(), shop.shopper(), shop.shopper()]);
    let importing = true;
    const refusals: string[] = [];
    let orders = 0;
    const buying = shoppers.map(async ({ token, address_id }, at) => {
      for (let n = 0; importing || n < 5; n += 1) {
        const sku_ids = [0, 1, 2].map((step) => skus[(at * 13 + n * 7 + step * 11) % skus.length]!.id);
        for (const sku_id of sku_ids) await shop.call('POST', '/api/v1/cart/add', { token, body: { sku_id, qty: 1 } });
        const placed = await shop.call('POST', '/api/v1/orders', { token, body: { address_id, sku_ids } });
        orders += 1;
        if (placed.code !== 0) refusals.push(placed.message);
        else if (n % 2) await shop.call('POST', `/api/v1/orders/${placed.data.id}/pay`, { token });
        else await shop.call('PUT', `/api/v1/orders/${placed.data.id}/cancel`, { token });
      }
    });
    for (let round = 0; round < 12 || orders < 60; round += 1) {
      const price = round % 2 ? '5.00' : '7.50';
      // The file still has the stock of before the sales, as a spreadsheet has.
      const { faults } = await imported(sql, file.replaceAll(',5.00,', `,${price},`));
      expect(faults).toEqual([]);
    }
    importing = false;
    await Promise.all(buying);
    expect(refusals).toEqual([]);
    expect(await auditViolations(sql)).toEqual([]);
    const [totals] = await sql<{ stock: number; sold: number; odd: number }[]>`
      select (select sum(stock)::int from catalog.product_skus) as stock,
             (select sum(sold)::int from catalog.product_skus) as sold,
             (select count(*)::int from orders.order_items where price not in (500, 750)) as odd`;
    expect(totals!.odd).toBe(0);
    expect(totals!.stock + totals!.sold).toBe(40_000);
  } finally {
    await shop.close();
  }
});

describe('the command', () => {
  let database: TestDatabase;
  let folder: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    database = await cloneDatabase();
    folder = await mkdtemp(join(tmpdir(), 'tradepost-csv-'));
    env = { DATABASE_URL: database.url, TRADEPOST_DATA: folder };
  });
  afterAll(async () => {
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  test('imports, exports, reports faults, and its exit code shows whether there was a fault', async () => {
    const sample = join(import.meta.dirname, '../../../fixtures/catalog/products.csv');
    const dry = await runCommandInProcess(['catalog', 'import', sample, '--dry-run', '--json'], { env });
    expect(dry.stderr).toBe('');
    expect(dry.code).toBe(0);
    expect(JSON.parse(dry.stdout)).toMatchObject({ created: 2, failed: 0, dry_run: true, errors: [] });
    expect(await contents(database.sql)).toEqual([]);
    expect(
      (await runCommandInProcess(['catalog', 'import', '-'], { env, input: await readFile(sample, 'utf8') })).stdout,
    ).toMatch(/3 lines: 2 created, 0 updated, 0 unchanged, 0 failed products/);
    const wrong = await runCommandInProcess(['catalog', 'import', '-', '--json'], {
      env,
      input: 'product_id,price\n1,cheap\n2,35\n',
    });
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toContain('line 2: price: must be an amount');
    const one = await runCommandInProcess(['catalog', 'import', '-'], { env, input: 'product_id,price\n2,35\n' });
    expect(one.stdout).toMatch(/^1 line: 0 created/);
    expect(JSON.parse(wrong.stdout)).toMatchObject({ updated: 1, failed: 1, errors: [{ line: 2, field: 'price' }] });
    const file = join(folder, 'out.csv');
    const toFile = await runCommandInProcess(['catalog', 'export', file, '--json'], { env });
    expect(JSON.parse(toFile.stdout)).toMatchObject({ products: 2, skus: 3 });
    const toStdout = await runCommandInProcess(['catalog', 'export'], { env });
    expect(toStdout.stdout).toBe(await readFile(file, 'utf8'));
    expect(toStdout.stderr).toContain('2 products, 3 SKUs');
    expect(await readdir(folder)).not.toContain('out.csv.part');
    const absent = await runCommandInProcess(['catalog', 'import', join(folder, 'absent.csv')], { env });
    expect(absent.code).toBe(1);
    expect(absent.stderr).toContain('absent.csv');
  });

  test('keeps committed products when it is killed, and the same file completes the import', async () => {
    const file = join(folder, 'many.csv');
    const rows = Array.from({ length: 4_000 }, (_, n) => `b${n},Bowl ${n},3.50,BOWL-${n},5`);
    await writeFile(file, `handle,title,price,sku_code,stock\n${rows.join('\n')}\n`);
    const bowls = async () => {
      const [row] = await database.sql<{ n: number; codes: number }[]>`
        select count(*)::int as n, count(distinct sku_code)::int as codes
        from catalog.product_skus where sku_code like 'BOWL-%'`;
      return row!;
    };
    const script = join(import.meta.dirname, '../../../bin/tradepost.ts');
    const child = spawn(process.execPath, [script, 'catalog', 'import', file], {
      env: { PATH: process.env.PATH ?? '', ...env },
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.on('close', resolve));
    while ((await bowls()).n === 0 && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 2));
    child.kill('SIGKILL');
    await ended;
    const { n } = await bowls();
    expect(n % 500).toBe(0);
    expect(n).toBeGreaterThan(0);
    expect(n).toBeLessThan(4_000);
    const again = await runCommandInProcess(['catalog', 'import', file, '--json'], { env });
    expect(JSON.parse(again.stdout)).toMatchObject({ created: 4_000 - n, unchanged: n, failed: 0 });
    expect(await bowls()).toEqual({ n: 4_000, codes: 4_000 });
  });
});
