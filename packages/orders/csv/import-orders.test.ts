import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shopperDeleted } from '@tradepost/identity';
import { recordEvents } from '@tradepost/runtime';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { dispatchEvents } from '@tradepost/testing/dispatch-events';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { openTables } from '@tradepost/testing/routes/table-contents';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** The history of an older shop, from a file: finished orders that keep their numbers and times, and move nothing in this shop. */
let shop: Shop;
let folder: string;
let sku: { product_id: number; sku_id: number };
let shopper: { id: number; token: string };
beforeAll(async () => {
  shop = await openShop();
  folder = await mkdtemp(join(tmpdir(), 'tradepost-orders-import-'));
  const { id, sku_ids } = await insertProduct(shop.database, { title: 'Mug', stocks: [7] });
  sku = { product_id: id, sku_id: sku_ids[0]! };
  await shop.database.sql`update catalog.product_skus set sku_code = 'MUG-1' where id = ${sku.sku_id}`;
  shopper = await shop.shopper();
  await shop.database.sql`update identity.shoppers set phone = '13900000001' where id = ${shopper.id}`;
});
afterAll(async () => {
  await shop?.close();
  await rm(folder, { recursive: true, force: true });
});

const run = (args: string[], input = '', of: Shop = shop) =>
  runCommandInProcess(args, { env: { DATABASE_URL: of.database.url, TRADEPOST_DATA: folder }, input });
const importOf = async (text: string, args: string[] = [], of: Shop = shop) => {
  const { code, stdout, stderr } = await run(['orders', 'import', '-', '--json', ...args], text, of);
  return { code, stderr, ...(stdout ? JSON.parse(stdout) : {}) };
};
const columns = [
  ...['order_no', 'status', 'created_at', 'paid_at', 'payment_method', 'freight_amount', 'total_amount', 'tracking_no'],
  ...['remark', 'nickname', 'shopper_account', 'shopper_phone', 'receiver_name', 'receiver_phone', 'province'],
  ...['item_sku_code', 'item_title', 'item_specs', 'item_price', 'item_qty', 'item_payable_amount'],
] as const;
type Row = Partial<Record<(typeof columns)[number], string>>;
const line = (row: Row) => columns.map((column) => `"${(row[column] ?? '').replaceAll('"', '""')}"`).join(',');
const fileOf = (...rows: Row[]) => [columns.join(','), ...rows.map(line)].join('\r\n');
const paidOrder: Row = {
  ...{ order_no: 'OLD-1', status: '4', created_at: '2020-02-03T10:00:00+08:00', paid_at: '2020-02-03T10:05:00+08:00' },
  ...{ payment_method: '微信支付', freight_amount: '5', total_amount: '30', tracking_no: 'SF1', remark: '=gift' },
  ...{
    nickname: 'Lin',
    shopper_phone: '+86 139-0000-0001',
    receiver_name: 'Uncle Zhao',
    receiver_phone: '13700000007',
  },
  ...{ province: 'Zhejiang', item_sku_code: 'mug-1', item_title: 'Old mug', item_price: '12.5', item_qty: '2' },
};
const cancelled: Row = {
  ...{
    order_no: 'OLD-2',
    status: '6',
    created_at: '2020-02-04 09:00',
    nickname: 'Grandma Wu',
    item_title: 'Lost lamp',
  },
  ...{ item_price: '8,40', item_qty: '1', item_sku_code: 'GONE', item_specs: 'Red / L' },
};

test('imported orders keep numbers and times, and change neither stock nor payments nor messages', async () => {
  const { sql } = shop.database;
  const tables = await openTables(shop.database);
  const before = await tables.contents();
  const file = fileOf(paidOrder, cancelled);
  expect(await importOf(file, ['--dry-run'])).toMatchObject({
    code: 0,
    lines: 2,
    created: 2,
    failed: 0,
    dry_run: true,
  });
  expect(await tables.contents()).toEqual(before);

  expect(await importOf(file)).toMatchObject({ code: 0, lines: 2, created: 2, unchanged: 0, failed: 0 });
  const after = await tables.contents();
  const changed = [...after].filter(([name, value]) => before.get(name) !== value).map(([name]) => name);
  expect(changed.sort()).toEqual([
    ...['analytics.changed_hours', 'change_log.changes', 'orders.imported_orders', 'orders.order_changes'],
    ...['orders.order_history', 'orders.order_imports', 'orders.order_items', 'orders.orders'],
  ]);
  const orders = await sql<{ order_no: string; user_id: number; payment_method: string }[]>`
    select order_no, user_id, payment_method, status, inventory_status, created_at, paid_at, total_amount, tracking_no
    from orders.orders order by order_no`;
  expect([...orders]).toMatchObject([
    {
      ...{ order_no: 'OLD-1', user_id: shopper.id, payment_method: 'wechat', status: 4, inventory_status: 'none' },
      ...{
        created_at: new Date('2020-02-03T02:00:00Z'),
        paid_at: new Date('2020-02-03T02:05:00Z'),
        total_amount: 3000,
      },
      tracking_no: 'SF1',
    },
    { order_no: 'OLD-2', user_id: 0, status: 6, created_at: new Date('2020-02-04T01:00:00Z'), paid_at: null },
  ]);
  const items =
    await sql`select product_id, sku_id, title, attrs, price, payable_amount from orders.order_items order by price`;
  expect([...items]).toMatchObject([
    { product_id: 0, sku_id: 0, title: 'Lost lamp', attrs: [{ name: '', value: 'Red / L' }], price: 840 },
    { ...sku, title: 'Old mug', price: 1250, payable_amount: 3000 },
  ]);
  expect(await auditViolations(sql)).toEqual([]);
  expect(await tables.contents()).toEqual(after);
});

test('the same file again changes nothing, and another value is refused with its line and column', async () => {
  const tables = await openTables(shop.database);
  const before = await tables.contents();
  const file = fileOf(paidOrder, cancelled);
  expect(await importOf(file)).toMatchObject({ code: 0, created: 0, unchanged: 2 });
  expect(await tables.contents()).toEqual(before);
  const other = await importOf(fileOf({ ...paidOrder, remark: 'other' }, cancelled), ['--dry-run']);
  expect(other).toMatchObject({ code: 1, unchanged: 1, failed: 1 });
  expect(other.errors).toEqual([{ line: 2, field: 'remark', message: expect.stringContaining("'=gift") }]);
  const longer = await importOf(
    fileOf(
      { ...paidOrder, total_amount: '', freight_amount: '' },
      { ...paidOrder, total_amount: '', freight_amount: '' },
    ),
    ['--dry-run'],
  );
  expect(longer.errors).toMatchObject([
    { line: 2, field: '-', message: expect.stringContaining('1 lines, the file has 2') },
  ]);
});

test('staff find imported orders, and they cannot be returned or reviewed', async () => {
  const token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  for (const keyword of ['old-1', 'uncle zhao', '13700000007', 'lost lamp', 'Grandma Wu', '灯'])
    expect(
      (await shop.call('GET', `/admin/api/orders?keyword=${encodeURIComponent(keyword)}`, { token })).data.list.length,
      keyword,
    ).toBe(keyword === '灯' ? 0 : 1);
  const mine = await shop.call('GET', '/api/v1/orders', { token: shopper.token });
  expect(mine.data.list).toMatchObject([{ order_no: 'OLD-1', after_sale_summary: { can_apply: false } }]);
  const [{ id, items }] = mine.data.list;
  const body = { case_type: 'return', reason: 'x', items: [{ order_item_id: items[0].id, qty: 1 }] };
  expect(await shop.call('POST', `/api/v1/orders/${id}/after-sales`, { token: shopper.token, body })).toMatchObject({
    code: 500,
    message: expect.stringContaining('older shop'),
  });
  const review = { token: shopper.token, body: { mode: 'create', product_score: 5, logistics_score: 5, content: 'x' } };
  expect((await shop.call('POST', `/api/v1/orders/${id}/review`, review)).code).not.toBe(0);
  expect((await shop.call('GET', `/api/v1/orders/${id}/review`, { token: shopper.token })).data.can_create).toBe(false);
  const timeline = await shop.call('GET', `/admin/api/orders/${id}/timeline`, { token });
  expect(JSON.stringify(timeline.data)).toContain('2020-02-03T10:05:00+08:00');
});

const shown = ({ errors }: { errors: { line: number; field: string }[] }) =>
  errors.map(({ line: at, field }) => `${at} ${field}`);

test('each column has its faults, and a faulty line refuses its whole order only', async () => {
  const good = (n: number): Row => ({ ...cancelled, order_no: `G-${n}` });
  const cases: [Row, string][] = [
    [{ order_no: 'a b' }, 'order_no'],
    [{ order_no: `${Date.now() + 86_400_000}000001` }, 'order_no'],
    [{ status: '2' }, 'status'],
    [{ status: 'done' }, 'status'],
    [{ status: '4' }, 'paid_at'],
    [{ created_at: '' }, 'created_at'],
    [{ created_at: '2020-13-01' }, 'created_at'],
    [{ created_at: '2099-01-01' }, 'created_at'],
    [{ paid_at: '2019-01-01' }, 'paid_at'],
    [{ freight_amount: '1e3' }, 'freight_amount'],
    [{ total_amount: '8.41' }, 'total_amount'],
    [{ tracking_no: 'x'.repeat(65) }, 'tracking_no'],
    [{ remark: 'a\u0000' }, 'remark'],
    [{ item_title: ' ' }, 'item_title'],
    [{ item_price: '' }, 'item_price'],
    [{ item_price: '-1' }, 'item_price'],
    [{ item_qty: '0' }, 'item_qty'],
    [{ item_qty: '1.5' }, 'item_qty'],
    [{ item_payable_amount: '8.00' }, 'total_amount'],
  ];
  const rows = cases.map(([row], n) => ({ ...good(n), ...row }));
  const done = await importOf(fileOf(...rows, good(100)), ['--dry-run']);
  expect(done).toMatchObject({ code: 1, created: 1, failed: cases.length, lines: cases.length + 1 });
  expect(shown(done)).toEqual(cases.map(([, column], n) => `${n + 2} ${column}`));

  const two = { ...good(1), item_title: 'Second', nickname: 'Another' };
  expect(shown(await importOf(fileOf(good(1), two), ['--dry-run']))).toEqual(['3 nickname']);
  expect(shown(await importOf(fileOf(good(1), good(2), good(1)), ['--dry-run']))).toEqual(['4 order_no']);
  // A line that cannot be read may belong to the order before or after it.
  const broken = [fileOf(good(1)), '"x', line(good(2)), line(good(3))].join('\r\n');
  const refused = await importOf(broken, ['--dry-run']);
  expect(refused).toMatchObject({ created: 1, failed: 2 });
  const many = Array.from({ length: 201 }, () => ({ ...good(1), item_price: '0.01' }));
  expect(shown(await importOf(fileOf(...many), ['--dry-run']))).toEqual(['202 -']);
  expect(await run(['orders', 'import', '-'], 'order_no,colour\n1,2')).toMatchObject({ code: 1 });
  expect((await run(['orders', 'import', join(folder, 'missing.csv')])).code).not.toBe(0);
});

test('the days of imported orders are counted, on the day of their creation', async () => {
  const { sql } = shop.database;
  expect((await run(['analytics', 'rebuild'])).code).toBe(0);
  const day = (
    await sql`
    select orders, sold_orders, sales, paid_orders from analytics.order_days where day = '2020-02-03'`
  )[0];
  expect(day).toMatchObject({ orders: 1, sold_orders: 1, sales: 3000, paid_orders: 1 });
  // A later import of the same day: the roll-up counts it again, without a rebuild.
  await importOf(fileOf({ ...paidOrder, order_no: 'OLD-3' }));
  const [marked] =
    await sql`select count(*)::int as n from analytics.changed_hours where hour = '2020-02-03T02:00:00Z'`;
  expect(marked!.n).toBe(1);
  expect(await auditViolations(sql)).toEqual([]);
});

test('a file of one shop imports into another, and comes out of it byte for byte', async () => {
  const other = await openShop();
  try {
    const file = join(folder, 'first.csv');
    expect((await run(['orders', 'export', file, '--no-ids'])).code).toBe(0);
    const text = await readFile(file, 'utf8');
    expect((await run(['orders', 'import', file], '', other)).code).toBe(0);
    expect((await run(['orders', 'export', '-', '--no-ids'], '', other)).stdout).toBe(text);
    // The complete file is accepted too, and its ids are ignored.
    const complete = join(folder, 'complete.csv');
    await writeFile(complete, (await run(['orders', 'export', '-'])).stdout);
    expect((await run(['orders', 'import', complete, '--json'], '', other)).stdout).toContain('"unchanged": 3');
    expect((await run(['orders', 'import', complete, '--json'])).stdout).toContain('"unchanged": 3');
    expect(await auditViolations(other.database.sql)).toEqual([]);
  } finally {
    await other.close();
  }
});

test('a shopper who deletes the account leaves only the receiver in imported orders', async () => {
  const { sql } = shop.database;
  await sql.begin((tx) => recordEvents(tx, shopperDeleted, [{ user_id: shopper.id }], new Date()));
  await dispatchEvents(shop);
  const rows = await sql`
    select nickname, shopper_account, shopper_phone, search from orders.imported_orders m
    join orders.orders o on o.id = m.order_id where o.order_no in ('OLD-1', 'OLD-2') order by o.order_no`;
  expect([...rows]).toEqual([
    {
      ...{ nickname: '', shopper_account: '', shopper_phone: '' },
      search: ['old-1', 'uncle zhao', '13700000007', 'old mug'].join('\n'),
    },
    { nickname: 'Grandma Wu', shopper_account: '', shopper_phone: '', search: expect.stringContaining('grandma wu') },
  ]);
});
