import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { CsvFault } from '@tradepost/csv';
import { createApp, serve } from '@tradepost/http';
import { type Module, openModules } from '@tradepost/module';
import { openDatabase, type Sql } from '@tradepost/postgres';
import { loadConfig, openLog, openRuntime } from '@tradepost/runtime';
import { call } from '@tradepost/testing/client';
import { cloneDatabase } from '@tradepost/testing/servers/database';
import { insertProduct } from '@tradepost/testing/shop';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { catalogModule, exportProducts, importProducts, type StockOwner, stockOwners } from '../index.ts';

/**
 * The stock owner decides how the catalogue handles stock: it leaves stock to the warehouses, notifies an external
 * system of stock that was set, or shows the quantities of an external system. This test serves the catalogue alone,
 * with stock owners of its own.
 */
const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function openCatalogue(stockOwner: StockOwner) {
  const database = await cloneDatabase();
  open.push(() => database.drop());
  const data = await mkdtemp(join(tmpdir(), 'tradepost-owner-'));
  open.push(() => rm(data, { recursive: true, force: true }));
  const { config } = loadConfig({ env: {}, flags: { databaseUrl: database.url, data, port: 0, databasePool: 4 } });
  const log = openLog({ level: process.env.TEST_LOG ?? 'silent' });
  const runtime = await openRuntime({ config, definitions: [], log, checkOnly: true });
  open.push(() => runtime.close());
  const owner: Module = { name: 'owner', open: () => ({ contributions: [stockOwners.add(stockOwner)] }) };
  const { routes, close } = await openModules(runtime, [catalogModule, owner]);
  open.push(close);
  const authenticate = (token: string) => {
    const [role, id] = token.split(' ') as ['user' | 'admin', string];
    return { role, id: Number(id), perms: ['*'], jti: token, expiresAt: 2 ** 40 };
  };
  const transport = await serve(createApp({ routes, resources: [], authenticate, runtime }), config, log);
  open.push(() => transport.close(1_000));
  const { sql } = database;
  await sql`create table notified (n bigint generated always as identity, sku_id bigint, stock int, stored int)`;
  const answer = (token: string, method: string, path: string, body?: object) =>
    call(transport.url, routes, method, path, { token, body });
  const faults: CsvFault[] = [];
  return {
    sql,
    database,
    admin: (method: string, path: string, body?: object) => answer('admin 1', method, `/admin/api${path}`, body),
    shopper: (path: string) => answer('user 1', 'GET', `/api/v1${path}`),
    faults,
    csv: (file: string, dryRun = false) =>
      importProducts(sql, Readable.from([Buffer.from(file)]), {
        stockOwner,
        dryRun,
        onFault: (one) => faults.push(one),
      }),
  };
}
type Catalogue = Awaited<ReturnType<typeof openCatalogue>>;

/** Records its notifications, and what is stored at that moment, on the transaction it gets. */
const listening: StockOwner = {
  editable: true,
  announce: (tx, skus) => [
    tx`
      insert into notified (sku_id, stock, stored)
      select t.sku_id, t.stock, s.stock
      from unnest(${skus.map((s) => s.sku_id)}::bigint[], ${skus.map((s) => s.stock)}::int[]) as t (sku_id, stock)
      left join catalog.product_skus s on s.id = t.sku_id`,
  ],
  sellable: null,
};
const kept: StockOwner = { ...listening, editable: false };

/** The notifications since the last call, by SKU key. */
async function notifications(sql: Sql): Promise<Record<string, number>> {
  const rows = await sql<{ sku_key: string; stock: number; stored: number }[]>`
    with taken as (delete from notified returning *)
    select s.sku_key, t.stock, t.stored from taken t join catalog.product_skus s on s.id = t.sku_id order by t.n`;
  for (const row of rows) expect(row.stock, 'the notification has the stored stock').toBe(row.stored);
  const keys = rows.map((row) => row.sku_key);
  expect(new Set(keys).size, 'each SKU is notified once').toBe(keys.length);
  return Object.fromEntries(rows.map((row) => [row.sku_key, row.stock]));
}

const stocks = async (sql: Sql) =>
  Object.fromEntries(
    (
      await sql<{ sku_key: string; stock: number; reserved_stock: number; status: string }[]>`
        select sku_key, stock, reserved_stock, status from catalog.product_skus order by id`
    ).map((sku) => [sku.sku_key, [sku.stock, sku.reserved_stock, sku.status]]),
  );
const sizes = (...values: string[]) => [{ name: 'Size', values }];

/**
 * Runs `save` while another transaction has locked the SKUs. That transaction sets their stock and ends when `save`
 * waits.
 */
async function whileSold<T>({ database, sql }: Catalogue, stock: number, save: () => Promise<T>): Promise<T> {
  const other = openDatabase(database.url, { max: 1 });
  try {
    let saving: Promise<T> | undefined;
    await other.begin(async (tx) => {
      await tx`update catalog.product_skus set stock = ${stock}`;
      saving = save();
      await vi.waitFor(
        async () => {
          const waiting = await sql`
            select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
          expect(waiting).toHaveLength(1);
        },
        { timeout: 5_000, interval: 10 },
      );
    });
    return await saving!;
  } finally {
    await other.end();
  }
}

describe('stock owned by warehouses', () => {
  test('a new product begins without stock; stock in the body is ignored', async () => {
    const { sql, admin } = await openCatalogue(kept);
    await admin('POST', '/products', { product: { title: 'Mug', price: 5, stock: 7 } });
    await admin('POST', '/products', {
      product: { title: 'Shirt', price: 5, stock: 7 },
      spec_schema: sizes('L', 'S'),
      sku_overrides: [{ sku_key: 'Size:L', stock: 9, price: 6 }],
    });
    const none = [0, 0, 'active'];
    expect(await stocks(sql)).toEqual({ __default__: none, 'Size:L': none, 'Size:S': none });
    expect(await notifications(sql), 'new SKUs are notified').toEqual({
      __default__: 0,
      'Size:L': 0,
      'Size:S': 0,
    });
  });

  test('a save of the whole row leaves stock unchanged, also below the reserved quantity, and stores the other fields', async () => {
    const { sql, admin } = await openCatalogue(kept);
    const { data } = await admin('POST', '/products', { product: { title: 'Mug', price: 5, stock: 7 } });
    await sql`update catalog.product_skus set stock = 10, reserved_stock = 4`;
    await notifications(sql);
    const put = (body: object) => admin('PUT', `/products/${data.id}`, body);
    expect((await put({ product: { title: 'Cup', price: 6, stock: 3 } })).code).toBe(0);
    expect((await put({ product: { stock: 100 } })).code).toBe(0);
    const sku = { sku_key: '__default__', sku_code: 'CUP', stock: 0 };
    expect((await put({ product: { stock: 0 }, spec_schema: [], sku_overrides: [sku] })).code).toBe(0);
    expect(await stocks(sql)).toEqual({ __default__: [10, 4, 'active'] });
    expect((await admin('GET', `/products/${data.id}`)).data).toMatchObject({
      ...{ title: 'Cup', price: 6, stock: 10 },
      skus: [{ sku_code: 'CUP', price: 6, stock: 10, reserved_stock: 4 }],
    });
    expect(await notifications(sql)).toEqual({});
  });

  test('SKUs that become inactive and active again keep their stock', async () => {
    const { sql, admin } = await openCatalogue(kept);
    const { data } = await admin('POST', '/products', {
      product: { title: 'Shirt', price: 5 },
      spec_schema: sizes('L', 'S'),
    });
    await sql`update catalog.product_skus set stock = 8, reserved_stock = 2 where sku_key = 'Size:L'`;
    const put = (specs: object, sku_overrides: object[] = []) =>
      admin('PUT', `/products/${data.id}`, { spec_schema: specs, sku_overrides });
    await put(sizes('S', 'M'));
    expect(await stocks(sql)).toMatchObject({ 'Size:L': [8, 2, 'inactive'], 'Size:M': [0, 0, 'active'] });
    await put(sizes('L', 'S', 'M'), [{ sku_key: 'Size:L', stock: 1 }]);
    expect(await stocks(sql)).toMatchObject({ 'Size:L': [8, 2, 'active'] });
  });

  test('a stock movement of a warehouse while the save waits is not undone', async () => {
    const catalogue = await openCatalogue(kept);
    const { sql, admin, csv } = catalogue;
    const { data } = await admin('POST', '/products', { product: { title: 'Mug', price: 5 } });
    await sql`update catalog.product_skus set stock = 10, sku_code = 'MUG'`;
    const body = { product: { price: 6, stock: 10 }, sku_overrides: [{ sku_key: '__default__', stock: 10 }] };
    await whileSold(catalogue, 7, () => admin('PUT', `/products/${data.id}`, body));
    expect(await stocks(sql)).toEqual({ __default__: [7, 0, 'active'] });
    const done = await whileSold(catalogue, 5, () =>
      csv('product_id,sku_code,price,stock,stock_before\n1,MUG,8,10,7\n'),
    );
    expect(done).toMatchObject({ updated: 1, stock_ignored: true });
    expect(await stocks(sql)).toEqual({ __default__: [5, 0, 'active'] });
  });

  test('a file: its stock columns are ignored, and the summary says so', async () => {
    const { sql, csv, faults } = await openCatalogue(kept);
    const file = (stock: string) => `product_id,title,price,sku_code,specs,stock,stock_before
1,Shirt,5,L,Size=L,${stock}
1,,,S,Size=S,${stock}
2,Mug,5,MUG,,${stock}
`;
    expect(await csv(file('7,7'), true)).toMatchObject({ created: 2, stock_ignored: true });
    expect(await csv(file('7,7'))).toMatchObject({ created: 2, stock_ignored: true });
    const none = [0, 0, 'active'];
    expect(await stocks(sql)).toEqual({ __default__: none, 'Size:L': none, 'Size:S': none });
    expect(await notifications(sql)).toEqual({ __default__: 0, 'Size:L': 0, 'Size:S': 0 });
    await sql`update catalog.product_skus set stock = 10, reserved_stock = 4`;
    // Below the reserved quantity; edited from another number; not a number.
    for (const stock of ['1,10', '9,8', '1,', 'many,-']) {
      expect(await csv(file(stock)), stock).toMatchObject({ unchanged: 2, failed: 0, stock_ignored: true });
      expect(await csv(file(stock).replaceAll('5,', '6,')), stock).toMatchObject({ updated: 2, failed: 0 });
      await csv(file(stock));
    }
    const held = [10, 4, 'active'];
    expect(await stocks(sql)).toEqual({ __default__: held, 'Size:L': held, 'Size:S': held });
    expect(await notifications(sql)).toEqual({});
    expect(faults).toEqual([]);
    // A line without a value for stock causes no notification.
    expect(await csv('product_id,title\n1,Pullover\n')).toMatchObject({ updated: 1, stock_ignored: false });
    expect(await csv(file(','))).toMatchObject({ stock_ignored: false });
  });

  test('an import of the unchanged export changes nothing', async () => {
    const { sql, admin, csv } = await openCatalogue(kept);
    await admin('POST', '/products', { product: { title: 'Shirt', price: 5 }, spec_schema: sizes('L', 'S') });
    await sql`update catalog.product_skus set stock = 3`;
    let file = '';
    await exportProducts(sql, async (text) => {
      file += text;
    });
    await sql`update catalog.product_skus set stock = 1`;
    expect(await csv(file)).toMatchObject({ unchanged: 1, failed: 0, stock_ignored: true });
    expect(await stocks(sql)).toEqual({ 'Size:L': [1, 0, 'active'], 'Size:S': [1, 0, 'active'] });
  });

  test('a product with stock in warehouses can be deleted, unless open orders have reserved it', async () => {
    const { sql, admin, database } = await openCatalogue(kept);
    const { id } = await insertProduct(database, { stocks: [5] });
    await sql`update catalog.product_skus set reserved_stock = 1`;
    expect((await admin('DELETE', `/products/${id}`)).code).toBe(500);
    await sql`update catalog.product_skus set reserved_stock = 0`;
    expect((await admin('DELETE', `/products/${id}`)).code).toBe(0);
    expect(await stocks(sql), 'the stock of the warehouses stays correct').toEqual({ 'Size:1': [5, 0, 'inactive'] });
  });
});

describe('an external stock owner is notified', () => {
  test('of new SKUs and of SKUs whose stock was set, and of no other', async () => {
    const { sql, admin } = await openCatalogue(listening);
    const { data } = await admin('POST', '/products', {
      product: { title: 'Shirt', price: 5 },
      spec_schema: sizes('L', 'S'),
      sku_overrides: [{ sku_key: 'Size:L', stock: 9 }],
    });
    expect(await notifications(sql)).toEqual({ 'Size:L': 9, 'Size:S': 0 });
    const put = async (body: object) => {
      expect((await admin('PUT', `/products/${data.id}`, body)).code).toBe(0);
      return notifications(sql);
    };
    expect(await put({ product: { title: 'Pullover', price: 6 } })).toEqual({});
    const overrides = (l: number, s: number) => [
      { sku_key: 'Size:L', stock: l, price: 7 },
      { sku_key: 'Size:S', stock: s },
    ];
    expect(await put({ sku_overrides: overrides(9, 4) })).toEqual({ 'Size:S': 4 });
    expect(await put({ sku_overrides: overrides(9, 4) }), 'the same again').toEqual({});
    expect(await put({ spec_schema: sizes('S', 'XL') })).toEqual({ 'Size:XL': 0 });
    expect(await put({ spec_schema: sizes('L', 'S') }), 'one that comes back is not new').toEqual({});
    // The form showed 9, and two were sold in the meantime. Saving the form sets 9 again.
    await sql`update catalog.product_skus set stock = 7 where sku_key = 'Size:L'`;
    expect(await put({ sku_overrides: overrides(9, 4) })).toEqual({ 'Size:L': 9 });
    const mug = await admin('POST', '/products', { product: { title: 'Mug', price: 5, stock: 3 } });
    expect(await notifications(sql)).toEqual({ __default__: 3 });
    await admin('PUT', `/products/${mug.data.id}`, { product: { stock: 3, price: 6 } });
    expect(await notifications(sql)).toEqual({});
    await admin('PUT', `/products/${mug.data.id}`, { product: { stock: 2 } });
    expect(await notifications(sql)).toEqual({ __default__: 2 });
  });

  test('of an import as of the editor, with one notification for a batch', async () => {
    let announcements = 0;
    const announce: StockOwner['announce'] = (tx, skus) => {
      announcements += 1;
      return listening.announce!(tx, skus);
    };
    const { sql, csv } = await openCatalogue({ ...listening, announce });
    const file = (price: number, l: number, mug: number, cup: number) => `product_id,title,price,sku_code,specs,stock
1,Shirt,5,L,Size=L,${l}
1,,,S,Size=S,
2,Mug,${price},MUG,,${mug}
3,Cup,5,CUP,Shape=Round,${cup}
`;
    await csv(file(5, 9, 3, 1), true);
    expect(announcements).toBe(0);
    await csv(file(5, 9, 3, 1));
    expect(await notifications(sql)).toEqual({ 'Size:L': 9, 'Size:S': 0, __default__: 3, 'Shape:Round': 1 });
    expect(announcements).toBe(1);
    await csv(file(6, 9, 3, 1));
    expect(await notifications(sql)).toEqual({});
    expect(await csv(`${file(6, 8, 3, 4)}3,,,CUP-2,Shape=Square,6\n`)).toMatchObject({ stock_ignored: false });
    expect(await notifications(sql)).toEqual({ 'Size:L': 8, 'Shape:Round': 4, 'Shape:Square': 6 });
    // The import does not set stock that the file left unchanged.
    await sql`update catalog.product_skus set stock = 2 where sku_key = 'Size:L'`;
    await csv('product_id,specs,sku_price,stock,stock_before\n1,Size=L,7,8,8\n1,Size=S,7,5,0\n');
    expect(await notifications(sql)).toEqual({ 'Size:S': 5 });
  });

  test('of the values after the lock, not of earlier values', async () => {
    const catalogue = await openCatalogue(listening);
    const { sql, admin, csv } = catalogue;
    await csv('product_id,title,price,sku_code,stock\n1,Mug,5,MUG,10\n');
    await notifications(sql);
    const put = (stock: number, price: number) => admin('PUT', '/products/1', { product: { stock, price } });
    await whileSold(catalogue, 7, () => put(7, 6));
    expect(await notifications(sql)).toEqual({});
    await whileSold(catalogue, 5, () => put(7, 7));
    expect(await notifications(sql)).toEqual({ __default__: 7 });
    const file = (stock: number, price: number) => csv(`product_id,sku_code,price,stock\n1,MUG,${price},${stock}\n`);
    await whileSold(catalogue, 4, () => file(4, 8));
    expect(await notifications(sql)).toEqual({});
    await whileSold(catalogue, 3, () => file(4, 9));
    expect(await notifications(sql)).toEqual({ __default__: 4 });
  });

  test('not of a save that fails; and no save succeeds without notification', async () => {
    const { sql, admin, csv, faults } = await openCatalogue({
      ...listening,
      announce: (tx, skus) => [
        ...listening.announce!(tx, skus),
        tx`select 1 / (case when max(stock) = 13 then 0 else 1 end) from notified`,
      ],
    });
    // Fails at the commit, after all notifications.
    await sql`
      create function doom() returns trigger language plpgsql as
        $$ begin if new.title = 'Doomed' then raise exception 'doomed'; end if; return null; end $$`;
    await sql`
      create constraint trigger doom after insert or update on catalog.products deferrable initially deferred
      for each row execute function doom()`;
    const product = (title: string, stock: number) => ({ product: { title, price: 5, stock } });
    const { data } = await admin('POST', '/products', product('Mug', 3));
    await notifications(sql);
    expect((await admin('POST', '/products', product('Doomed', 4))).code).not.toBe(0);
    expect((await admin('PUT', `/products/${data.id}`, product('Doomed', 4))).code).not.toBe(0);
    const row = (title: string, stock: number) =>
      csv(`product_id,title,price,sku_code,stock\n${data.id},${title},5,MUG,${stock}\n`);
    await expect(row('Doomed', 4)).rejects.toThrow('doomed');
    expect((await admin('POST', '/products', product('Unlucky', 13))).code).not.toBe(0);
    expect((await admin('PUT', `/products/${data.id}`, product('Unlucky', 13))).code).not.toBe(0);
    expect(await row('Unlucky', 13)).toMatchObject({ failed: 1 });
    expect(faults).toHaveLength(1);
    const [left] =
      await sql`select count(*)::int as notified, (select array_agg(title) from catalog.products) as titles from notified`;
    expect(left).toEqual({ notified: 0, titles: ['Mug'] });
    expect(await stocks(sql)).toEqual({ __default__: [3, 0, 'active'] });
  });
});

describe('the quantity of an external stock owner', () => {
  const asked: number[][] = [];
  let answer: ReadonlyMap<number, number> | null = null;
  const external: StockOwner = {
    editable: true,
    announce: null,
    async sellable(ids) {
      asked.push([...ids]);
      return answer;
    },
  };

  test('provides the quantity of a product when it is known, otherwise ours is shown; it is called once per answer', async () => {
    const { sql, admin, shopper, database } = await openCatalogue(external);
    const { id, sku_ids } = await insertProduct(database, { stocks: [10, 20, 30, 40] });
    const [first, second, third, ended] = sku_ids as [number, number, number, number];
    await sql`update catalog.product_skus set reserved_stock = 1`;
    await sql`update catalog.product_skus set status = 'inactive' where id = ${ended}`;
    await sql`insert into catalog.favorites (user_id, product_id) values (1, ${id})`;
    const shown = async () => {
      asked.length = 0;
      const { data } = await shopper(`/products/${id}`);
      expect(asked).toEqual([[first, second, third]]);
      expect(data.is_favorited).toBe(true);
      const skus = data.skus as { id: number; stock: number }[];
      expect(skus.map((sku) => sku.id)).toEqual([first, second, third]);
      return [data.stock, ...skus.map((sku) => sku.stock)];
    };
    answer = new Map([
      [first, 0],
      [second, 500],
      [ended, 1_000],
    ]);
    expect(await shown()).toEqual([0 + 500 + 29, 0, 500, 29]);
    answer = null;
    expect(await shown()).toEqual([9 + 19 + 29, 9, 19, 29]);
    answer = new Map();
    expect(await shown()).toEqual([9 + 19 + 29, 9, 19, 29]);

    // Lists and the editor show the stored quantity and do not call the stock owner.
    answer = new Map(sku_ids.map((sku) => [sku, 7]));
    asked.length = 0;
    expect((await shopper('/products')).data.list[0].stock).toBe(57);
    expect((await admin('GET', '/products')).data.list[0].stock).toBe(57);
    expect((await admin('GET', `/products/${id}`)).data).toMatchObject({
      stock: 60,
      skus: [{ stock: 10 }, {}, {}, {}],
    });
    await admin('PUT', '/products/batch/status', { ids: [id], status: 0 });
    expect((await shopper(`/products/${id}`)).code).toBe(10002);
    expect(asked).toEqual([]);
  });

  test('is not called for a product without SKUs', async () => {
    const { shopper, database } = await openCatalogue(external);
    const { id } = await insertProduct(database, { stocks: [] });
    asked.length = 0;
    expect((await shopper(`/products/${id}`)).data).toMatchObject({ stock: 0, skus: [] });
    expect(asked).toEqual([]);
  });
});
