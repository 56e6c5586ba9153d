import { openDatabase, type Sql, type Transaction } from '@tradepost/postgres';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { vacuumTables } from '@tradepost/testing/vacuum';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { settleTasks } from '../../packages/external-wms/tasks/settle-tasks.ts';
import { claimDueTasks, selectNextDue } from '../../packages/external-wms/tasks/task-claim-store.ts';
import {
  countTasks,
  selectFailedTasks,
  selectTask,
  selectTasks,
} from '../../packages/external-wms/tasks/task-list-store.ts';
import { orderStatuses } from '../../packages/external-wms/tasks/task-order-store.ts';
import { selectTaskCounts } from '../../packages/external-wms/tasks/task-report-store.ts';
import { lockTasks, selectLaterTasks } from '../../packages/external-wms/tasks/task-store.ts';
import { builtinProvider } from '../../packages/inventory/providers/builtin/builtin-provider.ts';
import { settleStockReservations } from '../../packages/inventory/providers/builtin/builtin-store.ts';
import { settleRemoteReservations } from '../../packages/inventory/reservations/remote-ledger.ts';
import { selectProvidersOf } from '../../packages/inventory/reservations/state-store.ts';
import { selectMovements } from '../../packages/inventory/stock/movement-store.ts';
import { selectLevels, selectStocks, selectStocksOf } from '../../packages/inventory/stock/stock-store.ts';
import { writeInventoryStatus } from '../../packages/orders/orders/order-store.ts';

/**
 * The query plans of frequent stock statements and of the stock lists, in a shop with a long history. The rows that a statement
 * reads are bounded by its subject, not by the size of the history.
 */
let database: TestDatabase;
let sql: Sql;
let plans: Node[] = [];
type Node = {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Node[];
};
const big = new Set([
  'inventory_integration_tasks',
  'stock_movements',
  'inventory_stock',
  'inventory_reservation',
  'order_inventory_state',
  'external_callbacks',
  'orders',
  'product_skus',
  'products',
]);
const finished = 100_000;
const skus = 5_000;
const warehouses = 4;

beforeAll(async () => {
  database = await cloneDatabase();
  await database.sql.unsafe(`
    insert into inventory.provider_state (provider, known) values ('builtin_wms', '{builtin_wms}') on conflict do nothing;
    insert into catalog.products (title, price) select 'Product ' || n, 100 from generate_series(1, ${skus}) as n;
    insert into catalog.product_skus (product_id, sku_key, price, stock, reserved_stock)
      select id, '__default__', 100, 4000, 2000 from catalog.products;
    insert into inventory.warehouses (code, name) select 'W' || n, 'Warehouse ' || n from generate_series(1, ${warehouses}) as n;
    insert into inventory.inventory_stock (warehouse_id, sku_id, qty, reserved_qty)
      select w.id, s.id, 1000, 500 from inventory.warehouses w, catalog.product_skus s order by w.id, s.id;
    insert into inventory.stock_movements (warehouse_id, sku_id, biz_type, change_qty, before_qty, after_qty, doc_no, occurred_at)
      select 1 + n % ${warehouses}, 1 + n % ${skus}, 'reserve', 0, 1000, 1000, 'N' || (n / 4),
        now() - (100000 - n) * interval '78 seconds' from generate_series(1, 100000) as n;
    insert into orders.orders (order_no, user_id, status, inventory_status, goods_amount, total_amount, address_snapshot, expires_at)
      select 'N' || n, 1, 1, 'pending', 100, 100, '{}', now() + interval '1 hour' from generate_series(1, 30000) as n;
    insert into inventory.order_inventory_state (order_no, provider, status)
      select 'N' || n, case when n % 2 = 0 then 'external_wms' else 'builtin_wms' end, 'reserved' from generate_series(1, 30000) as n;
    insert into inventory.inventory_reservation (biz_type, biz_no, sku_id, warehouse_id, qty, status)
      select 'order', 'N' || n, 1 + (n * 7 + k) % ${skus}, 1 + n % ${warehouses}, 1,
        case when n % 100 < 95 and n < 29000 then 'confirmed' else 'reserved' end
      from generate_series(1, 30000) as n, generate_series(0, 1) as k;
    insert into inventory.inventory_integration_tasks (provider, biz_type, biz_no, action, request_id, sequence_key, payload, status,
        attempt_count, max_attempts, backoff_seconds, next_retry_at, completed_at)
      select 'external_wms', 'sku', '77-' || n, 'sync_sku', 'sku:77-' || n || ':sync_sku', 'sku:77', '{}',
        case when n < 5000 then 'success' else 'pending' end, 0, 8, 30, now() + case when n < 5000 then '0' else '4 hours' end::interval,
        case when n < 5000 then now() end
      from generate_series(1, 5000) as n;
    insert into inventory.inventory_integration_tasks (provider, biz_type, biz_no, action, request_id, sequence_key, payload, status,
        attempt_count, max_attempts, backoff_seconds, next_retry_at, completed_at, last_code)
      select 'external_wms', 'order', 'N' || (n / 3), (array['reserve', 'confirm', 'release'])[1 + n % 3],
        'order:N' || (n / 3) || ':' || (array['reserve', 'confirm', 'release'])[1 + n % 3], 'order:N' || (n / 3), '{"biz_type": "order"}',
        case when n % 500 = 0 then 'failed' else 'success' end, 1, 8, 30, now() - interval '1 day', now(), 0
      from generate_series(0, ${finished - 1}) as n;
    insert into inventory.inventory_integration_tasks (provider, biz_type, biz_no, action, request_id, sequence_key, payload, status,
        attempt_count, max_attempts, backoff_seconds, next_retry_at)
      select 'external_wms', 'order', 'N' || (29000 + n), 'restore', 'order:N' || (29000 + n) || ':restore', 'order:N' || (29000 + n),
        '{"biz_type": "order"}', 'pending', 0, 8, 30, now() + (n - 200) * interval '1 minute'
      from generate_series(1, 300) as n;
    insert into inventory.external_callbacks (callback_id, request_id, status, body, outcome)
      select 'cb-' || n, 'order:N' || (n / 3) || ':reserve', 'success', '{}', 'applied' from generate_series(1, 20000) as n`);
  // The state after autovacuum. The BRIN index on the time of a movement needs its summaries.
  await vacuumTables(
    database.sql,
    'inventory.stock_movements',
    'inventory.inventory_integration_tasks',
    'inventory.inventory_stock',
    'inventory.inventory_reservation',
    'inventory.order_inventory_state',
    'inventory.external_callbacks',
    'inventory.warehouses',
    'orders.orders',
    'catalog.products',
    'catalog.product_skus',
  );
  sql = openDatabase(database.url, {
    max: 1,
    onNotice(text) {
      const json = /^duration: .*?plan:\n(\{[\s\S]*\})$/.exec(text)?.[1];
      if (json) plans.push((JSON.parse(json) as { Plan: Node }).Plan);
    },
  });
  await sql.unsafe(`load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_format = json;
    set auto_explain.log_analyze = on; set auto_explain.log_timing = off; set auto_explain.log_level = notice;
    set jit = off; set random_page_cost = 1.1`);
}, 120_000);
afterAll(async () => {
  await sql?.end();
  await database?.drop();
});

const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
/** The rows that a node read: those that it returned and those that it filtered out. */
const rowsRead = (node: Node) =>
  ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)) *
  (node['Actual Loops'] ?? 0);

/** Runs `work`. Returns the big tables that its statements scanned in full, and the number of rows that they read. */
async function readBy(work: () => Promise<unknown>): Promise<{ fullScans: string[]; rows: number }> {
  plans = [];
  await work();
  // The notices of a statement arrive before the answer to the next one.
  await sql`select 1`;
  const nodes = plans.flatMap(nodesOf);
  expect(plans.length, 'number of recorded plans').toBeGreaterThan(0);
  const fullScans = nodes
    .filter((node) => node['Node Type'] === 'Seq Scan' && big.has(node['Relation Name'] ?? ''))
    .map((node) => node['Relation Name']!);
  // Scans of tables and indexes. The index stock_movements_time counts pages, so it is left out.
  const scans = nodes.filter((node) =>
    node['Relation Name'] !== undefined
      ? / Scan$/.test(node['Node Type'])
      : node['Node Type'] === 'Bitmap Index Scan' && node['Index Name'] !== 'stock_movements_time',
  );
  const rows = scans.reduce((sum, node) => sum + rowsRead(node), 0);
  return { fullScans, rows };
}

class RollbackSignal extends Error {}
/** Runs `work` in a transaction that is rolled back, so that each case has the same data. */
const rolledBack = (work: (tx: Transaction) => Promise<unknown>) => () =>
  sql
    .begin(async (tx) => {
      await work(tx);
      throw new RollbackSignal();
    })
    .catch((error: unknown) => {
      if (!(error instanceof RollbackSignal)) throw error;
    });

const now = () => new Date();
const later = (minutes: number) => new Date(Date.now() + minutes * 60_000);
const numbers = (from: number, count: number, step = 1) =>
  Array.from({ length: count }, (_, n) => `N${from + n * step}`);
const page = (number: number, size = 20) => ({ page: number, size, offset: (number - 1) * size });
const claim = (batch: number, of?: { bizNos: string[]; except: number[] }) => (tx: Transaction) =>
  claimDueTasks(tx as unknown as Sql, {
    owner: 'w',
    now: now(),
    lockedTo: later(2),
    postponedTo: later(1),
    batch,
    ...(of ? { of } : {}),
  });
const settled = (requestIds: string[]) => async (tx: Transaction) => {
  const tasks = await lockTasks(tx, { requestIds });
  expect(tasks).toHaveLength(requestIds.length);
  const moves = tasks.map(({ id }) => ({ id, to: 'success' as const, next: null, code: 0, error: '' }));
  await settleTasks(tx, { writeOrderStatus: writeInventoryStatus, wake: true }, tasks, moves, now());
};
/** 100 orders of builtin_wms with reserved stock of two SKUs each. */
const reservedOrders = numbers(29_001, 100, 2);

describe.each(['auto', 'force_generic_plan'])('a frequent statement reads few rows, plan_cache_mode %s', (mode) => {
  beforeAll(async () => {
    await sql.unsafe(`set plan_cache_mode = ${mode}`);
  });
  afterAll(async () => {
    await sql.unsafe('reset plan_cache_mode');
  });
  test.each<[string, (tx: Transaction) => Promise<unknown>, number]>([
    ['a worker claims a batch', claim(100), 700],
    ['a worker claims all due tasks', claim(1_000), 1_500],
    [
      'a SKU with 5,000 earlier tasks is synchronized again',
      async (tx) => {
        await tx`update inventory.inventory_integration_tasks set next_retry_at = now() - interval '1 year'
                 where request_id = 'sku:77-5000:sync_sku'`;
        expect(await claim(1)(tx)).toMatchObject({ claimed: [{ request_id: 'sku:77-5000:sync_sku' }] });
      },
      50,
    ],
    ['a payment claims the tasks of its order', claim(10, { bizNos: ['N29250'], except: [] }), 30],
    [
      'a batch of payments claims the tasks of its orders',
      claim(100, { bizNos: numbers(29_201, 90), except: [] }),
      1_200,
    ],
    ['a callback finds its task', (tx) => lockTasks(tx, { requestIds: ['order:N5:reserve'] }), 4],
    [
      'a batch of callbacks finds its tasks',
      (tx) => lockTasks(tx, { requestIds: numbers(1, 100).map((no) => `order:${no}:reserve`) }),
      400,
    ],
    ['tasks are locked by id', (tx) => lockTasks(tx, { ids: Array.from({ length: 100 }, (_, n) => 100 * n + 1) }), 400],
    ['the states of 100 orders are found by their tasks', (tx) => tx`${orderStatuses(tx, numbers(29_001, 100))}`, 900],
    [
      '100 tasks are completed, with their orders',
      settled(numbers(29_001, 100).map((no) => `order:${no}:restore`)),
      4_000,
    ],
    ['the tasks after failed tasks are found', (tx) => selectLaterTasks(tx, [50_001, 50_002, 50_003]), 30],
    [
      'the providers of 100 orders are found',
      (tx) => selectProvidersOf(tx, numbers(29_001, 100), ['external_wms']),
      400,
    ],
    [
      'orders of an external warehouse are paid',
      async (tx) => settleRemoteReservations(tx, numbers(29_002, 100, 2), 'confirmed'),
      1_500,
    ],
    [
      'orders of an external warehouse are cancelled',
      async (tx) => settleRemoteReservations(tx, numbers(29_002, 100, 2), 'released'),
      1_200,
    ],
    [
      'a warehouse reserves stock for 50 orders',
      async (tx) => {
        const ids = Array.from({ length: 100 }, (_, n) => 1 + n * 3);
        const session = await builtinProvider.openStockSession(tx, ids);
        for (const [n, sku_id] of ids.entries())
          expect(session.reserve({ biz_no: `X${n % 50}`, lines: [{ sku_id, qty: 1 }], expires_at: later(15) }).ok).toBe(
            true,
          );
        for (const statement of session.statements()) await statement;
      },
      2_500,
    ],
    [
      'a warehouse confirms 100 orders',
      async (tx) => {
        for (const statement of builtinProvider.confirm(tx, reservedOrders)) await statement;
      },
      3_500,
    ],
    [
      'a warehouse releases 100 orders',
      async (tx) => {
        for (const statement of builtinProvider.release(tx, reservedOrders, 'timeout')) await statement;
      },
      3_500,
    ],
    ['a warehouse confirms one order', async (tx) => settleStockReservations(tx, ['N29001'], 'confirmed'), 60],
    [
      'a document reads the stock of its SKUs',
      (tx) =>
        selectLevels(
          tx,
          [1],
          Array.from({ length: 100 }, (_, n) => 1 + n * 3),
        ),
      400,
    ],
  ])('%s', async (_name, work, maxRows) => {
    const { fullScans, rows } = await readBy(rolledBack(work));
    expect(fullScans).toEqual([]);
    expect(rows).toBeLessThanOrEqual(maxRows);
  });
});

describe('a list or report reads few rows', () => {
  const span = (from: Date | null, before: Date | null) => ({ from, before });
  const movements = (filter: object, of = span(null, null), at = page(1)) => selectMovements(sql, filter, of, at, 'en');
  const stocks = (filter: object, at = page(1)) => selectStocks(sql, filter, at, 'en');
  test.each<[string, () => Promise<unknown>, number]>([
    ['when the next task is due', () => selectNextDue(sql), 400],
    ['the number of tasks by status', () => selectTaskCounts(sql), 900],
    ['the last 50 tasks', () => selectTasks(sql, {}, 50), 60],
    ['the last 50 tasks of an action', () => selectTasks(sql, { action: 'confirm' }, 50), 600],
    ['the last 50 open tasks', () => selectTasks(sql, { open: true }, 50), 700],
    ['the last 50 failed tasks', () => selectTasks(sql, { status: 'failed' }, 50), 500],
    ['the tasks of an order', () => selectTasks(sql, { biz_no: 'N77' }, 50), 10],
    ['the number of failed tasks', () => countTasks(sql, { status: 'failed' }), 300],
    ['failed tasks to be retried', () => selectFailedTasks(sql, 0, 500), 500],
    ['a task with its callbacks', () => selectTask(sql, 'order:N77:reserve'), 10],
    // The rows that are found and counted are bounded. Names are read for one page only.
    ['the movements of a SKU', () => movements({ sku_id: 77 }), 200],
    ['the movements of a SKU in a warehouse', () => movements({ sku_id: 77, warehouse_id: 2 }), 200],
    ['the movements of an order', () => movements({ doc_no: 'N77' }), 60],
    // A day is 1,108 movements; a range of pages holds about 12,000.
    ['the movements of a day', () => movements({}, span(later(-51 * 1440), later(-50 * 1440))), 50_000],
    ['the stock of a SKU', () => stocks({ sku_id: 77 }), 60],
    ['the stock of SKUs, for the product form', () => selectStocksOf(sql, [1, 2, 3], 'en'), 80],
    ['the stock of a warehouse', () => stocks({ warehouse_id: 2 }), 12_000],
    ['the stock of a warehouse, page 200', () => stocks({ warehouse_id: 2 }, page(200)), 12_000],
  ])('%s', async (_name, work, maxRows) => {
    for (const repeat of [1, 2]) {
      const { fullScans, rows } = await readBy(work);
      expect(fullScans, `run ${repeat}`).toEqual([]);
      expect(rows).toBeLessThanOrEqual(maxRows);
    }
  });
});
