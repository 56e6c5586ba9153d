import { seedScale } from '@tradepost/app';
import { openDatabase, type Sql } from '@tradepost/postgres';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claimDueShipments, selectDue } from '../../packages/fulfilment/carriers/sync/claim-store.ts';
import { shippedWith } from '../../packages/fulfilment/shipments/shipment-store.ts';
import { foldOrderCounts } from '../../packages/orders/orders/order-counts-store.ts';
import {
  type AdminOrderFilter,
  selectAdminOrders,
  selectProvinces,
  selectShopperOrders,
} from '../../packages/orders/orders/order-page-store.ts';
import { resolveKeyword } from '../../packages/orders/orders/order-search-store.ts';
import { selectExpiredOrders, selectOrder, selectOrderItems } from '../../packages/orders/orders/order-store.ts';
import { selectShippedBefore } from '../../packages/orders/paid-orders/order-lines-store.ts';

/**
 * The query plans of frequent queries in a shop with many orders, as PostgreSQL ran them (auto_explain). No query scans a big
 * table in full, on any page, and a page of 20 reads few rows.
 */
let database: TestDatabase;
let sql: Sql;
let plans: { text: string; root: Node }[] = [];
type Node = {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  Plans?: Node[];
};
const orders = 30_000;
const big = new Set([
  'orders',
  'order_items',
  'order_history',
  'payments',
  'shipments',
  'shoppers',
  'addresses',
  'sold_titles',
  'idempotency_keys',
]);

beforeAll(async () => {
  database = await cloneDatabase();
  await seedScale(database.sql, { orders, shoppers: 3_000, products: 500 }, () => {});
  await foldOrderCounts(database.sql);
  await database.sql`vacuum analyze orders.order_blocks`;
  sql = openDatabase(database.url, {
    max: 1,
    onNotice(text) {
      const json = /^duration: .*?plan:\n(\{[\s\S]*\})$/.exec(text)?.[1];
      if (!json) return;
      const plan = JSON.parse(json) as { 'Query Text': string; Plan: Node };
      plans.push({ text: plan['Query Text'], root: plan.Plan });
    },
  });
  await sql.unsafe(`load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_format = json;
    set auto_explain.log_analyze = on; set auto_explain.log_timing = off; set auto_explain.log_level = notice; set jit = off; set random_page_cost = 1.1`);
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
/** The rows that a node read: those that it returned and those that it filtered out. */
const rowsRead = (node: Node) =>
  ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 0);

/** Runs `work`. Returns its result, the big tables that its statements scanned in full, and the number of rows that they read. */
async function readBy<T>(work: () => Promise<T>): Promise<{ result: T; fullScans: string[]; rows: number }> {
  plans = [];
  const result = await work();
  // The notices of a statement arrive before the answer to the next one.
  await sql`select 1`;
  const nodes = plans.flatMap((plan) => nodesOf(plan.root));
  expect(plans.length, 'number of recorded plans').toBeGreaterThan(0);
  const fullScans = nodes
    .filter((node) => node['Node Type'] === 'Seq Scan' && big.has(node['Relation Name'] ?? ''))
    .map((node) => node['Relation Name']!);
  const rows = nodes.filter((node) => / Scan$/.test(node['Node Type'])).reduce((sum, node) => sum + rowsRead(node), 0);
  return { result, fullScans, rows };
}

const noFilter: AdminOrderFilter = {
  status: null,
  pay_method: null,
  time_start: null,
  time_end: null,
  amount_min: null,
  amount_max: null,
  provinces: null,
  restrictedTo: null,
  keyword: null,
};
const page = (number: number, size = 20) => ({ page: number, size, offset: (number - 1) * size });
const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
const admin =
  (filter: Partial<AdminOrderFilter>, at = page(1)) =>
  () =>
    selectAdminOrders(sql, { ...noFilter, ...filter }, at);
const keyword =
  (text: string, filter: Partial<AdminOrderFilter> = {}) =>
  async () =>
    selectAdminOrders(sql, { ...noFilter, ...filter, keyword: await resolveKeyword(sql, text) }, page(1));

describe('no page of orders scans a whole table', () => {
  // The last value is the maximum number of rows that the page may read. A block of ids has 4,096 rows.
  test.each<[string, () => Promise<{ rows: unknown[]; total: number }>, number]>([
    ['the newest', admin({}), 9_000],
    ['the middle', admin({}, page(750)), 9_000],
    ['the last page', admin({}, page(1500)), 9_000],
    ['a status', admin({ status: 6 }), 9_000],
    ['a status, page 900', admin({ status: 3 }, page(900)), 9_000],
    ['a payment method', admin({ pay_method: 'alipay' }), 9_000],
    ['a day', admin({ time_start: ago(101), time_end: ago(100) }), 14_000],
    ['half a year, page 500', admin({ time_start: ago(300), time_end: ago(100) }, page(500)), 20_000],
    ['a range of amounts with few orders', admin({ amount_min: 70_000, amount_max: 70_100 }), 3_000],
    ['a range of amounts with many orders', admin({ amount_min: 1 }), 3_000],
    ['a province', async () => admin({ provinces: await selectProvinces(sql, '浙江') })(), 9_000],
    // These orders are few enough to be counted.
    ['a carrier', () => admin({ restrictedTo: shippedWith(sql, 'EMS') })(), 45_000],
    ['a carrier without orders', () => admin({ restrictedTo: shippedWith(sql, 'NONE') })(), 100],
    ['a receiver', keyword('李伟'), 12_000],
    ['a phone', keyword('13000000077'), 1_000],
    ['a product', keyword('Tea pot No. 101'), 3_000],
    ['many products', keyword('mug'), 90_000],
    ['a keyword without matches', keyword('nothing like it'), 500],
    ['a keyword and a status', keyword('scarf', { status: 2 }), 90_000],
  ])('%s', async (name, work, maxRows) => {
    const { result, fullScans, rows } = await readBy(work);
    // Orders with a common keyword are counted by a scan of at most a quarter of a second. Here this is the whole table.
    expect(/products|status/.test(name) ? fullScans.filter((relation) => relation !== 'orders') : fullScans).toEqual(
      [],
    );
    expect(rows).toBeLessThan(maxRows);
    expect(result.rows.length).toBeLessThanOrEqual(20);
  });

  test('the totals of pages agree with counted rows', async () => {
    const counts = await sql<
      { status: 3; n: number }[]
    >`select status, count(*)::int as n from orders.orders group by 1`;
    for (const { status, n } of counts) expect((await admin({ status })()).total).toBe(n);
    expect((await admin({})()).total).toBe(orders);
    const [day] = await sql<{ n: number }[]>`
      select count(*)::int as n from orders.orders where created_at between ${ago(200)} and ${ago(100)} and status = 3`;
    // Both ends of the range differ by the milliseconds between the two statements.
    expect(
      Math.abs((await admin({ status: 3, time_start: ago(200), time_end: ago(100) })()).total - day!.n),
    ).toBeLessThan(3);
  });

  test('all pages together have each order once, newest first', async () => {
    const seen: number[] = [];
    for (let number = 1; ; number++) {
      const { rows } = await selectAdminOrders(sql, { ...noFilter, status: 6 }, page(number, 500));
      if (rows.length === 0) break;
      seen.push(...rows.map((row) => row.id));
    }
    const all = await sql<{ id: number }[]>`select id from orders.orders where status = 6 order by id desc`;
    expect(seen).toEqual(all.map((row) => row.id));
  });
});

test('the orders of a shopper, one order, its lines and the sweep of unpaid orders scan no whole table', async () => {
  const [top] = await sql<{ user_id: number; id: number; n: number }[]>`
    select user_id, max(id) as id, count(*)::int as n from orders.orders group by 1 order by 3 desc limit 1`;
  const { user_id: userId, id, n } = top!;
  const reads = [
    [() => selectShopperOrders(sql, { userId, status: null }, page(1)), 2 * n + 200],
    [() => selectShopperOrders(sql, { userId, status: 6 }, page(1)), 2 * n + 200],
    [() => selectOrder(sql, id, userId), 2],
    [() => selectOrderItems(sql, [id]), 4],
    // The blocks that have unpaid orders are read.
    [() => selectExpiredOrders(sql, new Date(), 200, []), 5_000],
    // A block of shipped orders, and the history of those that are old enough.
    [() => selectShippedBefore(sql, new Date(), 200), 6_000],
  ] as const;
  for (const [work, maxRows] of reads) {
    const { fullScans, rows } = await readBy<unknown>(work);
    expect(fullScans).toEqual([]);
    expect(rows).toBeLessThanOrEqual(maxRows);
  }
});

test('a poll of carriers reads the shipments that are due, and not the ones that wait or are signed', async () => {
  await sql`
    update fulfilment.shipments set next_query_at = case when id % 100 = 0 then now() else now() + interval '1 hour' end`;
  await sql`update fulfilment.shipments set logistics_status = 'signed', next_query_at = null where id % 3 = 1`;
  await sql`vacuum analyze fulfilment.shipments`;
  const now = new Date(Date.now() + 1_000);
  const companies = ['SF', 'YTO', 'ZTO', 'EMS'];
  const claim = { now, until: new Date(now.getTime() + 120_000), batch: 20, companies };
  const polls = [() => claimDueShipments(sql, claim), () => selectDue(sql, now, companies)];
  for (const work of polls) {
    const { fullScans, rows } = await readBy<unknown>(work);
    expect(fullScans).toEqual([]);
    expect(rows).toBeLessThanOrEqual(1_000);
  }
});
