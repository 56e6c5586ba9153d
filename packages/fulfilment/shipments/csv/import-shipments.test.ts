import { auditViolations } from '@tradepost/testing/audit-violations';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** The shipments of many orders from a file: what is shipped twice or to a wrong order costs money. */
let shop: Shop;
/** The last is not paid. */
const orders: { id: number; order_no: string }[] = [];
beforeAll(async () => {
  shop = await openShop();
  const { token, address_id } = await shop.shopper();
  const sku_id = (await insertProduct(shop.database, { stocks: [1000] })).sku_ids[0]!;
  for (let n = 0; n < 4; n += 1) {
    const { data } = await shop.call('POST', '/api/v1/orders', { token, body: { address_id, items: [{ sku_id }] } });
    if (n < 3) await shop.call('POST', `/api/v1/orders/${data.id}/pay`, { token });
    orders.push(data);
  }
});
afterAll(() => shop?.close());

const importOf = async (lines: string[], ...args: string[]) => {
  const input = ['order_no,company,tracking_no', ...lines].join('\r\n');
  const { code, stdout, stderr } = await runCommandInProcess(['shipments', 'import', '-', '--json', ...args], {
    env: { DATABASE_URL: shop.database.url },
    input,
  });
  return { code, stderr, ...(stdout ? JSON.parse(stdout) : {}) };
};
const statuses = async () => {
  const rows = await shop.database.sql<{ status: number }[]>`select status from orders.orders order by id`;
  return rows.map(({ status }) => status);
};
const shipments = async () => {
  const { sql } = shop.database;
  return sql<{ order_id: number; company: string; tracking_no: string }[]>`
    select order_id, company, tracking_no from fulfilment.shipments order by order_id`;
};

test('a file ships paid orders once, however often and in part it is imported', async () => {
  const [a, b, c, unpaid] = orders.map(({ order_no }) => order_no);
  const lines = [`${a},sf,SF1`, `${b},YTO,'=YT2`];

  expect(await importOf(lines, '--dry-run')).toMatchObject({ code: 0, lines: 2, shipped: 2, failed: 0 });
  expect(await statuses()).toEqual([2, 2, 2, 1]);
  expect(await shipments()).toEqual([]);

  expect(await importOf([lines[0]!])).toMatchObject({ code: 0, shipped: 1, unchanged: 0 });
  expect(await importOf(lines)).toMatchObject({ code: 0, shipped: 1, unchanged: 1 });
  expect(await importOf(lines)).toMatchObject({ code: 0, shipped: 0, unchanged: 2 });
  const first = { order_id: orders[0]!.id, company: 'SF', tracking_no: 'SF1' };
  expect([...(await shipments())]).toEqual([first, { order_id: orders[1]!.id, company: 'YTO', tracking_no: '=YT2' }]);

  const faulty = await importOf([
    `${a},SF,OTHER`,
    `${unpaid},SF,SF4`,
    '1234,SF,SF5',
    '1.77E+18,SF,SF6',
    `${c},,SF7`,
    `${c},SF,SF3`,
    `${c},SF,SF8`,
    'x,"SF,SF9',
  ]);
  expect(faulty).toMatchObject({ code: 1, lines: 8, shipped: 1, failed: 7 });
  const found = faulty.errors.map(({ line, field }: { line: number; field: string }) => [line, field]);
  expect(found.sort()).toEqual(
    [
      [2, 'order_no'],
      [3, '-'],
      [4, 'order_no'],
      [5, 'order_no'],
      [6, 'company'],
      [8, 'order_no'],
      [9, '-'],
    ].sort(),
  );
  expect(faulty.stderr).toContain('line 2: order_no: the order was shipped already, with SF SF1');
  expect(await statuses()).toEqual([3, 3, 3, 1]);
  expect(await shipments()).toHaveLength(3);
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});

test('a file that is not of this kind is refused as a whole', async () => {
  const run = (input: string) =>
    runCommandInProcess(['shipments', 'import', '-'], { env: { DATABASE_URL: shop.database.url }, input });
  expect(await run('order,company\n1,SF')).toMatchObject({ code: 1, stderr: expect.stringContaining('column order') });
  expect(await run('order_no,company\n1,SF')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('tracking_no'),
  });
});
