import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** The orders of the shop as a file over HTTP: personal data, so who took it is on record. */
let shop: Shop;
let token: string;
const orders: { id: number; order_no: string }[] = [];
beforeAll(async () => {
  shop = await openShop();
  token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['order:view'] });
  const shopper = await shop.shopper();
  const { sku_ids } = await insertProduct(shop.database, { title: '=cmd()', stocks: [100] });
  await shop.database.sql`update catalog.product_skus set sku_code = '-CODE' where id = ${sku_ids[0]!}`;
  for (let n = 0; n < 3; n += 1) {
    const body = { address_id: shopper.address_id, items: [{ sku_id: sku_ids[0] }], remark: `remark ${n}` };
    orders.push((await shop.call('POST', '/api/v1/orders', { token: shopper.token, body })).data);
  }
  await shop.call('POST', `/api/v1/orders/${orders[2]!.id}/pay`, { token: shopper.token });
});
afterAll(() => shop?.close());

const get = (query = '', of = token) =>
  fetch(`${shop.url}/admin/api/orders/export${query}`, { headers: { authorization: `Bearer ${of}` } });
const text = async (query = '') => {
  const bytes = new Uint8Array(await (await get(query)).arrayBuffer());
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
};
const numbersIn = (file: string) => orders.filter(({ order_no }) => file.includes(order_no)).map(({ id }) => id);

test('the file is that of the command, with the filters of the list', async () => {
  const answer = await get();
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(answer.headers.get('content-disposition')).toContain('orders.csv');
  await answer.text();
  const { stdout } = await runCommandInProcess(['orders', 'export', '-'], { env: { DATABASE_URL: shop.database.url } });
  const file = await text();
  expect(file).toBe(stdout);
  expect(file.startsWith('\ufefforder_no,order_id,')).toBe(true);
  expect(file).toContain(",'=cmd(),");
  expect(file).toContain(",'-CODE,");
  const ids = orders.map(({ id }) => id);
  const cases: [string, number[]][] = [
    ['?status=2', [ids[2]!]],
    [`?keyword=${orders[1]!.order_no}`, [ids[1]!]],
    ['?time_start=2099-01-01', []],
    ['?time_end=2099-01-01', ids],
    ['?province=zhe', ids],
    ['?province=nowhere', []],
    ['?amount_min=100000', []],
    ['?pay_method=alipay', []],
    ['?has_after_sale=true', []],
    ['?logistics_company=SF', []],
  ];
  for (const [query, expected] of cases) {
    expect(numbersIn(await text(query)), query).toEqual(expected);
    const { data } = await shop.call('GET', `/admin/api/orders${query}`, { token });
    expect(data.list.map(({ id }: { id: number }) => id).sort(), query).toEqual(expected);
  }
  const plain = await text('?no_receivers=true&no_ids=true');
  expect(plain).not.toContain('13800000000');
  expect(plain).not.toContain('shopper1');
  expect(plain).not.toContain('order_id');
});

test('it needs the permission of the list, and refuses an invalid time', async () => {
  const other = await shop.server.tokens.issue({ role: 'admin', id: 2, perms: ['product:view'] });
  expect(await (await get('', other)).json()).toMatchObject({ code: 403, data: null });
  expect(await (await get('?time_start=soon')).json()).toMatchObject({
    code: 400,
    message: expect.stringContaining('time_start'),
  });
});

test('the change log says who exported what', async () => {
  const { sql } = shop.database;
  await sql`delete from change_log.changes`;
  await text('?status=2');
  const [entry, ...others] = await sql`
    select source, staff_id, action, table_name, operation, after from change_log.changes`;
  expect(others).toEqual([]);
  expect(entry).toMatchObject({
    ...{ source: 'api', staff_id: 1, action: 'GET /admin/api/orders/export', operation: 'insert' },
    ...{ table_name: 'orders.order_exports', after: { receivers: true, filter: { status: 2 } } },
  });
  await runCommandInProcess(['orders', 'export', '-', '--no-receivers'], { env: { DATABASE_URL: shop.database.url } });
  const [second] = await sql`select after from change_log.changes where source = 'cli'`;
  expect(second).toMatchObject({ after: { receivers: false } });
});

test('a client that does not read holds no transaction, and orders are written meanwhile', async () => {
  const { sql } = shop.database;
  await sql`
    insert into orders.orders (id, order_no, user_id, status, inventory_status, payment_method, goods_amount, total_amount,
      address_snapshot, remark, expires_at)
    select 1000000 + n, 'X' || n, user_id, 6, 'released', payment_method, goods_amount, goods_amount, address_snapshot,
      repeat('x', 450), expires_at
    from orders.orders cross join generate_series(1, 30000) as n where id = ${orders[1]!.id}`;
  const { port } = new URL(shop.url);
  const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
  socket.pause();
  socket.write(`GET /admin/api/orders/export HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  try {
    const exports = async () => Number((await sql`select count(*)::int as n from orders.order_exports`)[0]!.n);
    const before = await exports();
    for (let n = 0; n < 100 && (await exports()) === before; n += 1) await sleep(20);
    /** Statements that run, and snapshots that are held. */
    const busy = async () =>
      sql`select state, query from pg_stat_activity
          where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
            and (state <> 'idle' or backend_xmin is not null)`;
    // The buffers of the connection fill first. Then nothing is read any more.
    let idleReads = 0;
    for (let n = 0; n < 200 && idleReads < 10; n += 1) {
      await sleep(50);
      idleReads = (await busy()).length === 0 ? idleReads + 1 : 0;
    }
    expect(idleReads).toBe(10);
  } finally {
    socket.destroy();
    await sql`delete from orders.orders where order_no like 'X%'`;
  }
});
