import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '@tradepost/postgres';
import { type BenchOptions, connections, shoppers, stockOfEach } from './alternating-runs.ts';
import { startBackgroundProcess } from './background-process.ts';
import { type LoadJob, mustSucceed } from './load.ts';
import { mean, progress, type Row, type Section } from './report.ts';
import { resetOrders, seedBuyers, seedSkus } from './seed.ts';
import { type Cluster, freePort, type Measured, measure, startProcess, startShop, temporaryFolder } from './server.ts';

const partner = { key: 'bench-key', secret: 'secret-of-the-bench' };
/** The providers to measure. With `async, delivered` a worker process delivers tasks during the orders. */
const modes = ['local', 'builtin_wms', 'external_wms async', 'async, delivered'] as const;
type Mode = (typeof modes)[number];
const isExternal = (mode: Mode) => mode.includes('async');
/** Tasks, and empty jobs, that exist when two worker processes start. */
const backlog = 20_000;
const workers = 2;

async function setProvider(sql: Sql, mode: Mode, endpoint: string): Promise<void> {
  await sql`
    truncate inventory.inventory_integration_tasks, inventory.stock_movements, inventory.stock_document_items,
      inventory.stock_documents, inventory.inventory_stock, inventory.warehouses, inventory.provider_state`;
  const settings = {
    'inventory.provider': isExternal(mode) ? 'external_wms' : mode,
    'inventory.external_mode': 'async',
    'external_wms.endpoint': endpoint,
    'external_wms.app_key': partner.key,
    'external_wms.app_secret': partner.secret,
    'external_wms.callback_enabled': false,
  };
  await sql`
    insert into runtime.settings (key, value) select key, value from jsonb_each(${sql.json(settings)})
    on conflict (key) do update set value = excluded.value`;
}

/** Checks that every confirmed order exists, has reserved two pieces, and has a warehouse task when the provider is external. */
async function mustAgree(sql: Sql, mode: Mode, confirmed: number): Promise<void> {
  const [row] = await sql<Record<string, number>[]>`
    select (select count(*) from orders.orders where status = 1)::int as orders,
      (select coalesce(sum(qty), 0) from inventory.inventory_reservation where status = 'reserved')::int as held,
      (select sum(reserved_stock) from catalog.product_skus)::int as reserved_stock,
      (select coalesce(sum(reserved_qty), 0) from inventory.inventory_stock)::int as on_shelves,
      (select count(*) from inventory.inventory_integration_tasks where action = 'reserve')::int as tasks`;
  const external = isExternal(mode);
  const wanted = {
    ...{ orders: confirmed, held: confirmed * 2, reserved_stock: external ? 0 : confirmed * 2 },
    ...{ on_shelves: mode === 'builtin_wms' ? confirmed * 2 : 0, tasks: external ? confirmed : 0 },
  };
  if (JSON.stringify(row) !== JSON.stringify(wanted))
    throw new Error(`${mode}: the database has ${JSON.stringify(row)} instead of ${JSON.stringify(wanted)}`);
}

const startDelivery = (databaseUrl: string, data: string) =>
  startBackgroundProcess(['daemons/wms-retry.ts'], { DATABASE_URL: databaseUrl, TRADEPOST_DATA: data });

async function startSimulator(): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const args = ['bin/tradepost.ts', 'wms', 'simulate', '--port', String(port), '--app-key', partner.key];
  const env = { WMS_APP_SECRET: partner.secret };
  return startProcess([...args, '--stock', '1000000000', '--json'], { port, env, path: '/_ledger' });
}

/** Measures orders of each provider alternately on one cluster, each time with a new server and empty tables. */
async function providerTurns(cluster: Cluster, options: BenchOptions, endpoint: string): Promise<Section> {
  const { sql } = cluster;
  const buyers = await seedBuyers(sql, cluster.tokens, shoppers);
  const skus = await seedSkus(sql, 500, stockOfEach);
  const measured: { mode: Mode; result: Measured }[] = [];
  for (const mode of [...modes, ...modes]) {
    await setProvider(sql, mode, endpoint);
    await resetOrders(sql, stockOfEach);
    const folder = await temporaryFolder();
    // No worker in the server: delivery runs in its own process and is measured separately.
    const server = await startShop({
      env: { TRADEPOST_ONLY: 'api' },
      data: folder.path,
      databaseUrl: cluster.url,
      profile: options.profile,
    });
    const stopDelivery = mode === 'async, delivered' ? startDelivery(cluster.url, folder.path) : null;
    if (stopDelivery) await sleep(2_000);
    const load = { scenario: 'orders', data: { buyers, skus, lines: 2 } } as const;
    const job = { ...load, connections, warmupSeconds: 2, seconds: options.seconds } as Omit<LoadJob, 'port'>;
    const result = await measure(server, cluster, job);
    await stopDelivery?.();
    await server.stop();
    await folder.remove();
    mustSucceed(result, 'orders');
    await mustAgree(sql, mode, result.codes['0']!);
    progress(`${mode}: ${Math.round(result.perSecond)} orders/s`);
    measured.push({ mode, result });
  }
  const of = (mode: Mode, field: 'perSecond' | 'p99') =>
    mean(measured.filter((turn) => turn.mode === mode).map((turn) => turn.result[field]));
  return {
    title: 'orders of two lines, 1,000 SKUs, by provider',
    rows: [
      ...measured.map(
        ({ mode, result }): Row => ({
          provider: mode,
          'orders/s': result.perSecond,
          'p50 ms': result.p50,
          'p99 ms': result.p99,
          'SQL/order': result.statementsPerUnit,
          'API CPU us': result.apiCpu,
          'PostgreSQL CPU us': result.postgresCpu,
        }),
      ),
      ...modes.slice(1).map(
        (mode): Row => ({
          provider: `${mode} / local`,
          'orders/s': of(mode, 'perSecond') / of('local', 'perSecond'),
        }),
      ),
    ],
    notes: ['after every turn: orders, reservations, shelves and tasks agree with the answers'],
  };
}

/** Runs two processes until `left` returns 0. Returns the rate without the first tenth. */
async function drain(start: () => (() => Promise<void>)[], left: () => Promise<number>): Promise<number> {
  const stops = start();
  const marks: { at: number; left: number }[] = [];
  for (;;) {
    const now = await left();
    marks.push({ at: performance.now(), left: now });
    if (now === 0) break;
    if (performance.now() - marks[0]!.at > 120_000) throw new Error(`${now} are left after two minutes`);
    await sleep(100);
  }
  for (const stop of stops) await stop();
  // The first tenth includes the start of the processes.
  const from = marks.find((mark) => mark.left <= backlog * 0.9)!;
  const to = marks.find((mark) => mark.left === 0)!;
  return (from.left - to.left) / ((to.at - from.at) / 1000);
}

/** Measures tasks that two worker processes deliver, and for comparison the same number of empty jobs of graphile-worker. */
async function deliveryTurns(cluster: Cluster, endpoint: string): Promise<Section> {
  const { sql } = cluster;
  const deliveries: number[] = [];
  const jobs: Record<string, number[]> = { 2: [], 24: [] };
  for (let turn = 0; turn < 2; turn += 1) {
    await setProvider(sql, 'external_wms async', endpoint);
    await resetOrders(sql, stockOfEach);
    await sql`truncate graphile_worker._private_jobs`;
    const folder = await temporaryFolder();
    const orders = `T${turn}-`;
    await sql`
      with made as (
        insert into orders.orders (order_no, user_id, status, inventory_status, goods_amount, total_amount, address_snapshot, expires_at)
        select ${orders} || n, 1, 1, 'pending', 100, 100, '{}', now() + interval '1 day' from generate_series(1, ${backlog}) as n
        returning order_no
      ), states as (
        insert into inventory.order_inventory_state (order_no, provider, status) select order_no, 'external_wms', 'pending' from made
      )
      insert into inventory.inventory_integration_tasks
        (provider, biz_type, biz_no, action, request_id, sequence_key, payload, max_attempts, backoff_seconds)
      select 'external_wms', 'order', order_no, 'reserve', 'order:' || order_no || ':reserve', 'order:' || order_no,
        jsonb_build_object('biz_type', 'order', 'biz_no', order_no, 'items', '[{"sku_id": 1, "qty": 1}, {"sku_id": 2, "qty": 1}]'::jsonb), 8, 30
      from made`;
    await sql`analyze inventory.inventory_integration_tasks`;
    const open = async () => {
      const [row] = await sql<{ n: number }[]>`
        select count(*)::int as n from inventory.inventory_integration_tasks where status in ('pending', 'processing')`;
      return row!.n;
    };
    const begin = () => Array.from({ length: workers }, () => startDelivery(cluster.url, folder.path));
    deliveries.push(await drain(begin, open));
    const [reserved] = await sql<{ n: number }[]>`
      select count(*)::int as n from orders.orders where inventory_status = 'reserved'`;
    if (reserved!.n !== backlog) throw new Error(`${reserved!.n} of ${backlog} orders are reserved`);
    progress(`tasks delivered/s: ${Math.round(deliveries.at(-1)!)}`);
    for (const concurrency of Object.keys(jobs)) {
      await sql`truncate graphile_worker._private_jobs`;
      await sql`select graphile_worker.add_job('bench.noop', '{}'::json) from generate_series(1, ${backlog})`;
      const beginJobs = () =>
        Array.from({ length: workers }, () =>
          startBackgroundProcess([join(import.meta.dirname, 'noop-worker.ts'), cluster.url, concurrency], {}),
        );
      const waiting = async () => {
        const [row] = await sql<{ n: number }[]>`select count(*)::int as n from graphile_worker._private_jobs`;
        return row!.n;
      };
      jobs[concurrency]!.push(await drain(beginJobs, waiting));
      progress(`jobs that do nothing/s, concurrency ${concurrency}: ${Math.round(jobs[concurrency]!.at(-1)!)}`);
    }
    await folder.remove();
  }
  const ceiling = Math.max(...Object.values(jobs).map(mean));
  return {
    title: `a backlog of ${backlog.toLocaleString('en')} on ${workers} worker processes`,
    rows: [
      {
        what: 'tasks delivered to the simulator',
        'turn 1 /s': deliveries[0]!,
        'turn 2 /s': deliveries[1]!,
        'mean /s': mean(deliveries),
      },
      ...Object.entries(jobs).map(
        ([concurrency, rates]): Row => ({
          what: `graphile-worker, jobs that do nothing, concurrency ${concurrency}`,
          ...{ 'turn 1 /s': rates[0]!, 'turn 2 /s': rates[1]!, 'mean /s': mean(rates) },
        }),
      ),
      { what: 'tasks / the better of these', 'mean /s': mean(deliveries) / ceiling },
    ],
    notes: ['after every turn: each task is done and its order reserved; the simulator runs on the same cores'],
  };
}

/** Measures orders with each provider, and the delivery of tasks to an external warehouse. */
export async function inventory(cluster: Cluster, options: BenchOptions): Promise<Section[]> {
  const simulator = await startSimulator();
  const sections = [await providerTurns(cluster, options, simulator.url), await deliveryTurns(cluster, simulator.url)];
  await simulator.stop();
  return sections;
}
