import { seedScale } from '@tradepost/app';
import { openDatabase, type Sql } from '@tradepost/postgres';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { vacuumTables } from '@tradepost/testing/vacuum';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { selectShownRows } from '../../packages/activities/storefront/row-store.ts';
import { countRunning, selectTasks, selectTasksWithoutJob } from '../../packages/ai-images/tasks/task-store.ts';
import { periodDays, readDays } from '../../packages/analytics/days/read-days.ts';
import { rollDays } from '../../packages/analytics/days/roll-days.ts';
import { countSkus, storeCounts } from '../../packages/analytics/reports/catalogue-store.ts';
import { selectBuyers } from '../../packages/analytics/reports/customer-store.ts';
import { selectBestProducts, selectBestSkus, selectCategorySales } from '../../packages/analytics/reports/sku-store.ts';
import { type ChangeFilter, selectChanges, selectOlderChanges } from '../../packages/change-log/change-store.ts';
import {
  type CaseFilter,
  selectCasePage,
  selectOrderCases,
} from '../../packages/fulfilment/after-sales/cases/case-store.ts';
import { claimDueShipments, selectDue } from '../../packages/fulfilment/carriers/sync/claim-store.ts';
import { shippedWith } from '../../packages/fulfilment/shipments/shipment-store.ts';
import { selectMessages } from '../../packages/identity/messages/message-store.ts';
import { reportAllLowStock } from '../../packages/inventory/low-stock/report-low-stock.ts';
import { stockWarningCard, stockWarningList } from '../../packages/inventory/stock/stock-warnings.ts';
import { countOwn } from '../../packages/marketing/issuing/issue-store.ts';
import { markExpired, markReturned, markUsed, selectChosen } from '../../packages/marketing/pricing/use-store.ts';
import { selectClaimable, selectUserCoupons } from '../../packages/marketing/storefront/user-coupon-store.ts';
import {
  countUnreadByStaff,
  selectMessages as selectInboxMessages,
} from '../../packages/message-centre/back-office/admin-message-store.ts';
import {
  countUnread,
  markAllRead,
  markRead,
  selectInbox,
} from '../../packages/message-centre/storefront/inbox-store.ts';
import { foldOrderCounts } from '../../packages/orders/orders/order-counts-store.ts';
import {
  type AdminOrderFilter,
  selectAdminOrders,
  selectProvinces,
  selectShopperOrders,
} from '../../packages/orders/orders/order-page-store.ts';
import { selectExpiredOrders, selectOrder, selectOrderItems } from '../../packages/orders/orders/order-store.ts';
import { selectShippedBefore } from '../../packages/orders/paid-orders/order-lines-store.ts';
import { resolveKeyword } from '../../packages/orders/search/order-search-store.ts';
import { type ReviewFilter, selectReviews } from '../../packages/reviews/back-office/admin-review-store.ts';
import { deleteOldRows } from '../../packages/runtime/retention/retention-store.ts';
import { claimDeliveries, recordOutcomes } from '../../packages/webhooks/deliveries/delivery-store.ts';
import {
  selectDeliveries,
  selectDelivery,
  selectOldestDue,
} from '../../packages/webhooks/delivery-log/delivery-list-store.ts';
import { maxCounted } from '../../packages/webhooks/limits.ts';
import { webhookRetention } from '../../packages/webhooks/retention.ts';

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
  'changes',
  'tasks',
  'deliveries',
  'attempts',
  'user_coupons',
  'coupon_versions',
  'activity_products',
]);

beforeAll(async () => {
  database = await cloneDatabase();
  await seedScale(database.sql, { orders, shoppers: 3_000, products: 500 }, () => {});
  await foldOrderCounts(database.sql);
  await vacuumTables(database.sql, 'orders.order_blocks');
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
  await vacuumTables(sql, 'fulfilment.shipments');
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
    await vacuumTables(
      database.sql,
      'fulfilment.after_sale_cases',
      'fulfilment.after_sale_items',
      'reviews.reviews',
      'reviews.review_replies',
      'identity.messages',
    );
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

describe('no list of image tasks scans a whole table', () => {
  const rows = 4_000;
  const running = 20;
  beforeAll(async () => {
    await database.sql`
      insert into ai_images.tasks (model_id, model_name, staff_id, scene, biz_type, prompt, params, status, result_urls,
        deadline_at, finished_at)
      select 1, 'Photos', 1 + n % 5, 'detail', 'detail', repeat('a mug ', 50), '{"width":750,"height":750,"count":1}',
             case when n > ${rows - running} then 1 else 2 end, case when n > ${rows - running} then null else '["/uploads/a.png"]'::jsonb end,
             now() + interval '1 hour', case when n > ${rows - running} then null else now() end
      from generate_series(1, ${rows}) as n`;
    await vacuumTables(database.sql, 'ai_images.tasks');
  });
  // The total counts an index.
  test.each<[string, () => Promise<unknown>, number]>([
    ['the newest', () => selectTasks(sql, page(1)), rows + 100],
    ['page 150', () => selectTasks(sql, page(150)), 2 * rows],
    ['running ones', () => sql.begin((tx) => countRunning(tx, 1)), running + 10],
    ['running ones without a job', () => selectTasksWithoutJob(sql, ago(1)), 3 * running],
  ])('%s', async (_name, work, maxRows) => {
    const { fullScans, rows: read } = await readBy(work);
    expect(fullScans).toEqual([]);
    expect(read).toBeLessThanOrEqual(maxRows);
  });
});

describe('an inbox costs the same whatever the number of messages and broadcasts', () => {
  const groups = ['system', 'order', 'marketing', 'im'] as const;
  const owner = { user_id: 7, since: ago(1_000) };
  /** A shopper sees 200 of the 2,000 broadcasts of each group. A plan reads a row in up to four nodes. */
  const all = 4 * 800 + 300;
  const oneGroup = 4 * 200 + 300;
  beforeAll(async () => {
    await database.sql`
      insert into message_centre.messages (user_id, message_group, title, content, template, event_id, facts, created_at, staff_read_at)
      select 1 + n % 2000, (array['system', 'order', 'marketing', 'im'])[1 + (n / 2000) % 4], 'Title', 'Text', 'order_paid', n, '{}',
             now() - interval '9 days', now()
      from generate_series(1, 40000) as n`;
    await database.sql`
      insert into message_centre.messages (user_id, message_group, title, content, created_at)
      select 0, (array['system', 'order', 'marketing', 'im'])[1 + n % 4], 'Title', 'Text', now() - interval '1 day'
      from generate_series(1, 8000) as n`;
    await database.sql`
      insert into message_centre.broadcast_reads (user_id, message_id, read_at)
      select u, m.id, now() from generate_series(1, 20) as u, message_centre.messages m where m.user_id = 0 and m.id % 40 = 0`;
    await vacuumTables(database.sql, 'message_centre.messages', 'message_centre.broadcast_reads');
  });
  test.each<[string, () => Promise<unknown>, number]>([
    ['a page', () => selectInbox(sql, owner, groups, page(1)), all],
    ['a page of a group', () => selectInbox(sql, owner, ['order'], page(2)), oneGroup],
    ['unread counts', () => countUnread(sql, owner, groups), all],
    ['unread counts of a new shopper', () => countUnread(sql, { user_id: 99_999, since: new Date() }, groups), all],
    ['reading some', () => markRead(sql, owner, [1, 2, 40_001, 47_999], new Date()), 50],
    ['reading all', () => markAllRead(sql, 7, groups, new Date()), 500],
    ['the unread counts of staff', () => countUnreadByStaff(sql, groups), 4_100],
    [
      'the messages of a shopper in the back office',
      () => selectInboxMessages(sql, { group: null, user_id: 7 }, page(1)),
      200,
    ],
  ])('%s', async (_name, work, maxRows) => {
    const { fullScans, rows } = await readBy(work);
    expect(fullScans).toEqual([]);
    expect(rows).toBeLessThanOrEqual(maxRows);
  });
});

describe('coupons cost the same whatever the number of coupons that shoppers have', () => {
  const now = new Date();
  beforeAll(async () => {
    await database.sql`
      with made as (
        insert into marketing.coupons (name, type, discount, per_limit, claimed_count)
        select 'Coupon ' || n, 1, 100, 0, 2000 from generate_series(1, 20) n returning *
      ), versions as (
        insert into marketing.coupon_versions (coupon_id, name, type, min_amount, discount, description, stack_rule, total_count, per_limit)
        select made.id, name, type, min_amount, discount, description, stack_rule, total_count, per_limit
        from made, generate_series(1, 100) returning id, coupon_id
      )
      insert into marketing.user_coupons (coupon_id, version_id, user_id, source, status, end_at, order_id, used_at)
      select coupon_id, id, 1 + n % 2000, 'claim', case n % 10 when 0 then 2 else 1 end, now() + interval '1 day' * (n % 100 + 1),
             case n % 10 when 0 then n end, case n % 10 when 0 then now() end
      from versions, generate_series(1, 20) n`;
    await vacuumTables(database.sql, 'marketing.coupons', 'marketing.coupon_versions', 'marketing.user_coupons');
  });
  test.each<[string, () => Promise<unknown>, number]>([
    ['the coupons of a shopper', () => selectUserCoupons(sql, { userId: 7, status: null, now }, page(1)), 100],
    ['coupons to claim', () => selectClaimable(sql, { userId: 7, now }, page(1)), 5_000],
    [
      'the limits of claims',
      () =>
        sql.begin((tx) =>
          countOwn(
            tx,
            [7, 8].map((user_id) => ({ coupon_id: 1, user_id })),
          ),
        ),
      300,
    ],
    ['chosen coupons', () => sql.begin((tx) => selectChosen(tx, [1, 2, 3], { lock: true, now })), 20],
    ['using them', () => sql.begin((tx) => markUsed(tx, [{ id: 1, order_id: 1 }], now)), 10],
    ['returning them', () => sql.begin((tx) => markReturned(tx, [999_999, 1], now)), 20],
    ['those that have ended', () => markExpired(sql, now), 20],
  ])('%s', async (_name, work, maxRows) => {
    const { fullScans, rows } = await readBy(work);
    expect(fullScans).toEqual([]);
    expect(rows).toBeLessThanOrEqual(maxRows);
  });
});

describe('reports read the orders of the running day and the roll-up, whatever the number of past orders', () => {
  const zone = 'UTC';
  const now = new Date();
  const period = { zone, days: 90, today: now.toISOString().slice(0, 10) };
  const of = { isStored: true, locale: 'en', limit: 10 } as const;
  beforeAll(async () => {
    const settings = { get: () => zone } as never;
    await rollDays({ sql: database.sql, settings, now: () => now });
    await vacuumTables(database.sql, 'analytics.order_days');
  });

  // A block of ids has 4,096 rows; the running day is in two of them. The sums of a period have a row for each SKU that was sold.
  test.each<[string, () => Promise<unknown>, number]>([
    ['the days of a period', () => readDays(sql, { zone, days: periodDays(90, period.today), now }), 12_000],
    ['the best SKUs', () => selectBestSkus(sql, period, of), 12_000],
    ['the best products', () => selectBestProducts(sql, period, of), 16_000],
    ['sales by category', () => selectCategorySales(sql, period, true), 16_000],
    ['buyers', () => selectBuyers(sql, period, true), 12_000],
  ])('%s', async (_name, work, maxRows) => {
    const { fullScans, rows: read } = await readBy(work);
    expect(fullScans).toEqual([]);
    expect(read).toBeLessThanOrEqual(maxRows);
  });
});

describe('the dashboard and the reports do not read the SKUs of a large catalogue', () => {
  const skus = 30_000;
  const today = new Date().toISOString().slice(0, 10);
  const period = (days: number) => ({ zone: 'UTC', days, today });
  const of = { isStored: true, locale: 'en', limit: 10 } as const;
  const reader = { id: 1, perms: ['*'] };
  beforeAll(async () => {
    await seedScale(database.sql, { orders: 1, shoppers: 1, products: skus / 2 }, () => {});
    // Every SKU was sold in the past days of both periods, and one in 1,000 is low.
    await database.sql`
      insert into analytics.window_skus (days, sku_id, product_id, qty, revenue)
      select d, id, product_id, id, id from catalog.product_skus, unnest('{30,90}'::int[]) as d on conflict do nothing`;
    await database.sql`
      insert into analytics.window_products (days, product_id, qty)
      select days, product_id, sum(qty) from analytics.window_skus group by 1, 2 on conflict do nothing`;
    await database.sql`update catalog.product_skus set stock = 5, reserved_stock = 0 where id % 1000 = 0`;
    const runtime = { sql: database.sql, now: () => new Date() };
    expect(await reportAllLowStock(runtime, new AbortController().signal)).toBeGreaterThan(20);
    await database.sql.begin((tx) => storeCounts(tx));
    await vacuumTables(database.sql, 'catalog.product_skus', 'analytics.window_skus', 'analytics.window_products');
  });

  // The orders of the running day are in two blocks of 4,096.
  test.each<[string, () => Promise<unknown>, number]>([
    ['the hot products', () => selectBestProducts(sql, period(30), { ...of, limit: 5 }), 12_000],
    ['the best SKUs', () => selectBestSkus(sql, period(90), of), 12_000],
    ['sales by category', () => selectCategorySales(sql, period(90), true), 12_000],
    ['the counts of the catalogue', () => countSkus(sql), 5],
    ['the number of low SKUs', () => stockWarningCard.count(sql, reader), 300],
    [
      'the lowest SKUs',
      async () => stockWarningList.select({ sql } as never, { reader, locale: 'en', limit: 20 }),
      400,
    ],
  ])('%s', async (_name, work, maxRows) => {
    const { rows: read } = await readBy(work);
    expect(read).toBeLessThanOrEqual(maxRows);
  });
});

describe('a page of the change log reads few rows, whatever the number of changes', () => {
  const rows = 40_000;
  const at = new Date('2026-03-01T00:00:00Z');
  beforeAll(async () => {
    // One change a minute. Row 7 of orders is one of 2,000, and the second administrator made one change in 100.
    await database.sql`
      insert into change_log.changes
        (at, source, staff_id, actor_name, address, request_id, action, table_name, row_id, operation, before, after)
      select ${at}::timestamptz + n * interval '1 minute', case when n % 10 = 0 then 'cli' else 'api' end,
             case when n % 10 > 0 then 1 + (n % 100 = 1)::int end, 'ann', '', 'r' || n / 4,
             case when n % 50 = 3 then 'PUT /admin/api/products/:id' else 'PUT /admin/api/orders/:id/remark' end,
             case when n % 50 = 3 then 'catalog.products' else 'orders.orders' end, (n % 2000)::text, 'update',
             '{"remark": ""}', jsonb_build_object('remark', md5(n::text))
      from generate_series(1, ${rows}) n`;
    await vacuumTables(database.sql, 'change_log.changes');
  });
  const listed =
    (filter: ChangeFilter, number = 1) =>
    () =>
      selectChanges(sql, filter, page(number));
  const day = (n: number) => new Date(at.getTime() + n * 86_400_000);
  const last = { at_text: '2026-03-08 00:00:00.000001+00', id: 10_000 };
  // The count reads at most 10,000 entries, and a page at most those before it.
  const counted = 10_000 + 200;
  test.each<[string, () => Promise<unknown>, number]>([
    ['all', listed({}), counted],
    ['all, the last page', listed({}, 500), 2 * counted],
    ['beyond the last page', listed({}, 5_000), 2 * counted],
    ['of an administrator', listed({ staff_id: 2 }), 2 * (rows / 100) + 100],
    ['of a row', listed({ table: 'orders', row_id: '7' }), 200],
    ['of a route', listed({ action: 'PUT /admin/api/products/:id' }), 2 * (rows / 50) + 100],
    ['of a request', listed({ request_id: 'r77' }), 100],
    ['of a day', listed({ from: day(3), before: day(4) }), 2 * 1_440 + 100],
    ['of an administrator on a day', listed({ staff_id: 2, from: day(3), before: day(4) }), 200],
    ['with a rare keyword', listed({ keyword: 'c4ca4238a0b923820dcc509a6f75849b' }), 4 * rows + 1_000],
    ['a piece of an export', () => selectOlderChanges(sql, {}, last, 1_000), 1_200],
    [
      'a piece of an export of a row',
      () => selectOlderChanges(sql, { table: 'orders', row_id: '7' }, last, 1_000),
      200,
    ],
  ])('%s', async (_name, work, maxRows) => {
    const { fullScans, rows: read } = await readBy(work);
    expect(fullScans).toEqual([]);
    expect(read).toBeLessThanOrEqual(maxRows);
  });
});

describe('the work of webhooks costs the same whatever the number of deliveries', () => {
  const waiting = 30_000;
  const ended = 20_000;
  const all = { endpoint_id: undefined, status: undefined, kind: undefined };
  const retention = (name: string) => webhookRetention.find((rule) => rule.name === name)!;
  const claim = () => claimDeliveries(sql, new Map([1, 2, 3].map((id) => [id, 8])), new Date(Date.now() + 1_000));
  beforeAll(async () => {
    await database.sql`
      insert into webhooks.endpoints (id, url, secret_sealed, enabled, disabled_at)
      select n, 'https://hooks.invalid/' || n, 'not a sealed text', n < 4, case when n >= 4 then now() - interval '40 days' end from generate_series(1, 4) as n`;
    // Subjects of three deliveries. The fourth endpoint is disabled, and has 100 of them.
    await database.sql`
      insert into webhooks.deliveries (endpoint_id, event_id, kind, subject, body, ready, due_at, occurred_at)
      select case when n % 300 = 0 then 4 else 1 + n % 3 end, n, 'order.paid', 'order:' || n / 3 || ':' || n % 3, '{}', true,
             now() - interval '1 hour', now() - interval '40 days'
      from generate_series(1, ${waiting}) as n`;
    await database.sql`
      insert into webhooks.deliveries (endpoint_id, event_id, kind, subject, body, status, ready, attempts, due_at, occurred_at, ended_at)
      select 1 + n % 3, ${waiting} + n, 'order.placed', 'order:' || n, '{}', case when n % 100 = 0 then 'failed' else 'delivered' end,
             false, 1, now(), now() - n * interval '2 minutes', now() - n * interval '2 minutes'
      from generate_series(1, ${ended}) as n`;
    // Old deliveries of a rare kind, and common kinds and states that do not occur together.
    await database.sql`update webhooks.deliveries set kind = 'order.rare' where event_id <= 10`;
    await database.sql`
      insert into webhooks.attempts (delivery_id, started_at, duration_ms, status, error, answer)
      select id, ended_at, 10, 200, '', '' from webhooks.deliveries where ended_at is not null`;
    await vacuumTables(database.sql, 'webhooks.endpoints', 'webhooks.deliveries', 'webhooks.attempts');
  });

  // A plan reads a row in up to four nodes. The list of failed deliveries reads the newest ones, of which one in 100 has failed.
  test.each<[string, () => Promise<unknown>, number]>([
    ['a worker claims', claim, 5 * 24],
    [
      'a worker records outcomes and readies the next',
      async () => {
        const claims = await claim();
        const attempt = {
          started_at: new Date(),
          duration_ms: 5,
          status: 204,
          error: '',
          answer: '',
          retryAfterMs: null,
        };
        const outcomes = claims.map((of) => ({ claim: of, attempt, status: 'delivered' as const, due_at: null }));
        expect(outcomes).toHaveLength(24);
        await sql.begin((tx) => recordOutcomes(tx, outcomes, new Date()));
      },
      13 * 24,
    ],
    ['the oldest due delivery', () => selectOldestDue(sql), 20],
    [
      'failed deliveries of an endpoint',
      () => selectDeliveries(sql, { ...all, endpoint_id: 1, status: 'failed' }, page(1)),
      300,
    ],
    ['failed deliveries', () => selectDeliveries(sql, { ...all, status: 'failed' }, page(1)), 1_000],
    ['deliveries of a rare kind', () => selectDeliveries(sql, { ...all, kind: 'order.rare' }, page(1)), 100],
    [
      'deliveries of a rare kind of an endpoint',
      () => selectDeliveries(sql, { ...all, endpoint_id: 1, kind: 'order.rare' }, page(1)),
      100,
    ],
    ['deliveries of no kind', () => selectDeliveries(sql, { ...all, kind: 'order.none' }, page(1)), 20],
    [
      'deliveries of a kind and state that do not occur together',
      () => selectDeliveries(sql, { ...all, kind: 'order.paid', status: 'failed' }, page(1)),
      20,
    ],
    [
      'such deliveries of an endpoint',
      () => selectDeliveries(sql, { ...all, endpoint_id: 1, kind: 'order.paid', status: 'delivered' }, page(1)),
      60,
    ],
    ['a page behind the last one', () => selectDeliveries(sql, all, page(2_000)), 6 * maxCounted],
    ['one delivery', () => selectDelivery(sql, waiting + 1), 10],
    ['clean-up of ended deliveries', () => deleteOldRows(sql, retention('webhook_deliveries'), 20, 500), 4 * 500],
    ['clean-up of a disabled endpoint', () => deleteOldRows(sql, retention('webhook_backlogs'), 30, 50), 5 * 100],
  ])('%s', async (_name, work, maxRows) => {
    const { fullScans, rows } = await readBy(work);
    expect(fullScans).toEqual([]);
    expect(rows).toBeLessThanOrEqual(maxRows);
  });

  test('each list has the newest of its deliveries, and their number', async () => {
    const filters: { kind?: string; status?: 'waiting' | 'failed' }[] = [
      ...[{}, { kind: 'order.rare' }, { kind: 'order.placed' }],
      ...[
        { status: 'failed' } as const,
        { status: 'waiting' } as const,
        { kind: 'order.placed', status: 'failed' } as const,
      ],
    ];
    for (const one of filters)
      for (const endpoint of [undefined, 1, 4])
        for (const at of [page(1), page(3, 7), page(7, 100)]) {
          const { kind = null, status = null } = one;
          const found = await selectDeliveries(sql, { ...all, ...one, endpoint_id: endpoint }, at);
          const rows = await sql<{ id: number; total: number }[]>`
            select id, (count(*) over ())::int as total from webhooks.deliveries
            where (${kind}::text is null or kind = ${kind}) and (${status}::text is null or status = ${status})
              and (${endpoint ?? null}::bigint is null or endpoint_id = ${endpoint ?? null})
            order by ${endpoint ? sql`event_id` : sql`id`} desc limit ${at.size} offset ${at.offset}`;
          expect(found.rows.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
          if (rows.length > 0) expect(found.total).toBe(Math.min(rows[0]!.total, maxCounted));
        }
  });

  test.each<[string, () => Promise<unknown>]>([
    ['the newest', () => selectDeliveries(sql, all, page(1))],
    ['of an endpoint', () => selectDeliveries(sql, { ...all, endpoint_id: 1 }, page(1))],
    ['of a kind', () => selectDeliveries(sql, { ...all, kind: 'order.placed' }, page(1))],
    ['that wait', () => selectDeliveries(sql, { ...all, status: 'waiting' }, page(1))],
  ])('a list of deliveries %s is counted up to a bound', async (_name, work) => {
    const { rows } = await readBy(work);
    expect(rows).toBeLessThanOrEqual(maxCounted + 500);
  });
});

test('a list of a running activity reads its rows and their goods, and no whole table', async () => {
  await sql`
    with made as (
      insert into activities.activities (type, name, start_at, end_at)
      select 'seckill', 'Sale ' || n, now() + make_interval(days => n), now() + make_interval(days => n + 1)
      from generate_series(-50, 50) as n returning id)
    insert into activities.activity_products (activity_id, product_id, sku_id, activity_price)
    select made.id, p.id, 0, 100 from made, (select id from catalog.products order by id limit 50) as p`;
  await vacuumTables(sql, 'activities.activities', 'activities.activity_products');
  const filter = { activity_id: null, category_id: null, keyword: null, min_price: null, max_price: null };
  const list = (by: 'sort' | 'sales') => () =>
    selectShownRows(sql, { type: 'seckill', prices: 'fixed' }, filter, { by, descending: true }, page(1), {
      now: new Date(),
      locale: 'en',
    });
  for (const work of [list('sort'), list('sales')]) {
    const { result, fullScans, rows } = await readBy(work);
    expect([result.total, result.rows.length]).toEqual([50, 20]);
    expect(fullScans).toEqual([]);
    // 101 activities, the rows of one, their goods, and the SKUs of a page.
    expect(rows).toBeLessThan(2_000);
  }
});
