import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { readCsvLines } from '@tradepost/csv';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Orders as a file for bookkeepers, and the shipments of many orders from a file. */
let shop: Shop;
let folder: string;
let shopper: { id: number; token: string; address_id: number };
let sku: number;
/** The last is not paid. */
const orders: { id: number; order_no: string }[] = [];
beforeAll(async () => {
  shop = await openShop();
  folder = await mkdtemp(join(tmpdir(), 'tradepost-orders-csv-'));
  shopper = await shop.shopper();
  sku = (await insertProduct(shop.database, { title: '=cmd()', price: 1250, stocks: [1000] })).sku_ids[0]!;
  for (let n = 0; n < 4; n += 1) {
    const body = {
      address_id: shopper.address_id,
      items: [{ sku_id: sku, qty: 2 }],
      remark: n === 0 ? '+1 "gift"' : '',
    };
    const { data } = await shop.call('POST', '/api/v1/orders', { token: shopper.token, body });
    if (n < 3) await shop.call('POST', `/api/v1/orders/${data.id}/pay`, { token: shopper.token });
    orders.push(data);
  }
});
afterAll(async () => {
  await shop?.close();
  await rm(folder, { recursive: true, force: true });
});

const run = (args: string[], input = '') =>
  runCommandInProcess(args, { env: { DATABASE_URL: shop.database.url, TRADEPOST_DATA: folder }, input });
async function rowsOf(text: string): Promise<Record<string, string>[]> {
  const columns = text.slice(1, text.indexOf('\r\n')).split(',');
  const rows: Record<string, string>[] = [];
  for await (const item of readCsvLines(Readable.from([Buffer.from(text)]), { columns, needs: [] })) {
    if (!('cells' in item)) throw new Error(item.message);
    rows.push(Object.fromEntries(item.cells));
  }
  return rows;
}
const exported = async (...args: string[]) => rowsOf((await run(['orders', 'export', '-', ...args])).stdout);

test('the export has each order, its amounts once, and no cell that a spreadsheet program runs', async () => {
  const rows = await exported();
  expect(rows.map((row) => row.order_no)).toEqual(orders.map(({ order_no }) => order_no).reverse());
  const first = rows.at(-1)!;
  expect(first).toMatchObject({ status: '2', remark: `'+1 "gift"`, item_title: "'=cmd()", receiver_name: 'Ann' });
  expect(first).toMatchObject({ receiver_phone: '13800000000', item_price: '12.50', nickname: 'shopper1' });
  expect(Number(first.item_payable_amount)).toBe(Number(first.goods_amount));
  expect(first.created_at).toMatch(/^\d{4}-\d\d-\d\dT.*[+-]\d\d:\d\d$/);
});

test('an order of several lines has its amounts on the first line only', async () => {
  const { sql } = shop.database;
  const { id } = orders[3]!;
  await sql`
    insert into orders.order_items (order_id, product_id, sku_id, title, cover, attrs, price, qty, payable_amount)
    select order_id, product_id, sku_id, 'Second', cover, '[{"name":"Size","value":"L"}]', 100, 1, 100
    from orders.order_items where order_id = ${id} limit 1`;
  const [one, two] = (await exported()).filter((row) => row.order_id === String(id));
  expect(Number(one!.total_amount)).toBeGreaterThan(0);
  expect(two).toMatchObject({
    order_no: orders[3]!.order_no,
    total_amount: '',
    item_specs: 'Size: L',
    item_title: 'Second',
  });
  await sql`delete from orders.order_items where order_id = ${id} and title = 'Second'`;
});

test('the filters are those of the list, and receivers can be left out', async () => {
  expect((await exported('--status', '1')).map((row) => row.order_no)).toEqual([orders[3]!.order_no]);
  expect(await exported('--from', '2099-01-01')).toEqual([]);
  expect(await exported('--to', '2000-01-01')).toEqual([]);
  expect((await exported('--keyword', orders[1]!.order_no)).map((row) => row.order_id)).toEqual([
    String(orders[1]!.id),
  ]);
  const { stdout } = await run(['orders', 'export', '-', '--no-receivers']);
  expect(Object.keys((await rowsOf(stdout))[0]!)).not.toContain('receiver_phone');
  for (const secret of ['13800000000', 'Ann', 'shopper1', 'Hangzhou']) expect(stdout).not.toContain(secret);
  expect(await run(['orders', 'export', '-', '--from', 'soon'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--from'),
  });
});

test('a file gets its name when it is complete, and the summary counts', async () => {
  const file = join(folder, 'orders.csv');
  const { code, stdout } = await run(['orders', 'export', file, '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ orders: 4, lines: 4 });
  expect(await rowsOf(await readFile(file, 'utf8'))).toHaveLength(4);
  expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
});

test('orders of more than one batch are all exported once', async () => {
  const { sql } = shop.database;
  await sql`
    insert into orders.orders (id, order_no, user_id, merchant_id, status, inventory_status, payment_method, goods_amount,
      discount_amount, freight_amount, total_amount, address_snapshot, province, remark, expires_at, created_at, updated_at)
    select 1000000 + n, 'X' || n, user_id, merchant_id, 6, 'released', payment_method, goods_amount, discount_amount,
      freight_amount, total_amount, address_snapshot, province, 'bulk', expires_at, created_at, updated_at
    from orders.orders cross join generate_series(1, 1201) as n where id = ${orders[3]!.id}`;
  const numbers = (await exported('--status', '6')).map((row) => row.order_no);
  expect(new Set(numbers).size).toBe(1201);
  expect(numbers).toHaveLength(1201);
  await sql`delete from orders.orders where remark = 'bulk'`;
});
