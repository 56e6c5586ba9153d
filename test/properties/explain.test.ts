import { seedScale } from '@tradepost/app';
import { openDatabase, type Sql } from '@tradepost/postgres';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type CaseFilter,
  selectCasePage,
  selectOrderCases,
} from '../../packages/fulfilment/after-sales/cases/case-store.ts';
import { claimDueShipments, selectDue } from '../../packages/fulfilment/carriers/sync/claim-store.ts';
import { shippedWith } from '../../packages/fulfilment/shipments/shipment-store.ts';
import { selectMessages } from '../../packages/identity/messages/message-store.ts';
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
import { type ReviewFilter, selectReviews } from '../../packages/reviews/back-office/admin-review-store.ts';

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
  'after_sale_cases',
  'after_sale_items',
  'reviews',
  'review_replies',
  'messages',
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

describe('no list of after-sales, reviews or messages scans a whole table', () => {
  const rows = 4_000;
  beforeAll(async () => {
    await database.sql`
      with drawn as (
        select id, user_id, case when id % 3 = 0 then 'exchange' else 'return' end as case_type,
               (array['applied', 'user_returning', 'closed', 'completed', 'completed', 'completed'])[1 + id % 6] as status
        from orders.orders where status = 3 order by id limit ${rows}
      ), cases as (
        insert into fulfilment.after_sale_cases (case_no, order_id, user_id, order_status_snapshot, case_type, status, reason,
          completed_at)
        select 'AS' || id, id, user_id, 3, case_type, status, 'Broken', case when status = 'completed' then now() end from drawn
        returning id, order_id, status
      )
      insert into fulfilment.after_sale_items (case_id, order_item_id, qty, is_open)
      select c.id, (select min(i.id) from orders.order_items i where i.order_id = c.order_id), 1, c.status in ('applied', 'user_returning')
      from cases c`;
    await database.sql`
      with reviews as (
        insert into reviews.reviews (order_id, order_item_id, order_no, product_id, user_id, product_score, logistics_score, content)
        select i.order_id, i.id, 'N' || i.order_id, i.product_id, 1 + i.id % 3000, 5, 5, 'Good ' || md5(i.id::text)
        from orders.order_items i order by i.id limit ${rows} returning id
      )
      insert into reviews.review_replies (review_id, admin_id, content) select id, 1, 'Thanks' from reviews where id % 4 > 0`;
    await database.sql`
      insert into identity.messages (batch, notice, channel, user_id, phone, params, status, attempts, due_at, sent_at)
      select gen_random_uuid(), 'order_shipped', 'sms', n, '13' || lpad(n::text, 9, '0'), '{"order_no": "N1"}',
             case when n % 100 = 0 then 'failed' else 'sent' end, 5, now(), case when n % 100 > 0 then now() end
      from generate_series(1, ${rows}) as n`;
    for (const table of [
      'fulfilment.after_sale_cases',
      'fulfilment.after_sale_items',
      'reviews.reviews',
      'reviews.review_replies',
      'identity.messages',
    ])
      await database.sql.unsafe(`vacuum analyze ${table}`);
  });
  const someCase = async () => {
    const [row] = await sql<{ order_id: number; user_id: number }[]>`
      select order_id, user_id from fulfilment.after_sale_cases order by id desc limit 1`;
    return row!;
  };
  const cases =
    (filter: Partial<CaseFilter>, at = page(1)) =>
    () =>
      selectCasePage(sql, { user_id: null, status: null, case_type: null, order_id: null, ...filter }, at);
  const reviews =
    (filter: Partial<ReviewFilter>, at = page(1)) =>
    () =>
      selectReviews(sql, { keyword: null, product_id: null, reply_status: null, ...filter }, at);
  // A total counts its entries in an index. A common keyword is left out: it reads the newest 50,000 reviews, which are all here.
  test.each<[string, () => Promise<unknown>, number]>([
    ['all cases', cases({}), rows + 100],
    ['all cases, page 300', cases({}, page(300)), 2 * rows],
    ['cases of a status', cases({ status: 'applied' }), rows / 6 + 100],
    ['cases of a type', cases({ case_type: 'exchange' }), rows / 3 + 100],
    ['cases of a status and a type', cases({ status: 'applied', case_type: 'return' }), rows],
    ['cases of an order', async () => cases({ order_id: (await someCase()).order_id })(), 100],
    ['cases of a shopper', async () => cases({ user_id: (await someCase()).user_id })(), 200],
    [
      'cases of a shopper and a status',
      async () => cases({ user_id: (await someCase()).user_id, status: 'closed' })(),
      200,
    ],
    ['the cases of a page of orders', async () => selectOrderCases(sql, [(await someCase()).order_id]), 20],
    ['all reviews', reviews({}), rows + 100],
    ['reviews of a product', reviews({ product_id: 7 }), 500],
    ['reviews without a reply', reviews({ reply_status: 'pending' }), 4 * rows],
    ['reviews with a reply', reviews({ reply_status: 'replied' }), 4 * rows],
    ['reviews with a rare keyword', reviews({ keyword: 'c4ca42' }), 500],
    ['all messages', () => selectMessages(sql, {}, 50), rows + 100],
    ['failed messages', () => selectMessages(sql, { status: 'failed' }, 50), rows / 100 + 100],
  ])('%s', async (_name, work, maxRows) => {
    const { fullScans, rows: read } = await readBy(work);
    expect(fullScans).toEqual([]);
    expect(read).toBeLessThanOrEqual(maxRows);
  });
});
