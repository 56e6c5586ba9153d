import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inventoryModule } from '@tradepost/inventory';
import { declaredBy } from '@tradepost/module';
import { writeInventoryStatus } from '@tradepost/orders';
import { loadConfig, openLog, openRuntime } from '@tradepost/runtime';
import { cloneDatabase } from '@tradepost/testing/servers/database';
import { testKeyFile } from '@tradepost/testing/servers/key-file';
import { startWarehouseServer } from '@tradepost/testing/servers/warehouse-server';
import { externalWmsModule } from '../index.ts';
import type { TaskAction } from '../protocol/actions.ts';
import { openExternalClient } from '../protocol/client.ts';
import { deliverTasks, type TaskDeps } from '../tasks/deliver-tasks.ts';
import { type NewTask, requestIdOf } from '../tasks/task.ts';
import { selectTasks } from '../tasks/task-list-store.ts';
import { insertTasks } from '../tasks/task-store.ts';

export const appKey = 'demo-key';
export const appSecret = 'the-secret-of-the-tests';

/** The settings of inventory and of the external warehouse. */
export const warehouseSettings = declaredBy([inventoryModule, externalWmsModule], 'settings');

export const orderTask = (biz_no: string, action: TaskAction): NewTask => ({
  ...{ biz_type: 'order', biz_no, action },
  payload: { biz_type: 'order', biz_no, ...(action === 'reserve' ? { items: [{ sku_id: 1, qty: 1 }] } : {}) },
});

/** Tasks without a shop: a database, the server of a partner, and a clock that the test moves. */
export async function openTaskBench(options: { log?: ReturnType<typeof openLog> } = {}) {
  const database = await cloneDatabase();
  const partner = await startWarehouseServer();
  const data = await mkdtemp(join(tmpdir(), 'tradepost-tasks-'));
  const { config } = loadConfig({
    env: {},
    flags: {
      ...{ databaseUrl: database.url, data, secretsKeyFile: testKeyFile },
      ...{ port: 0, seed: 'none', only: 'api', databasePool: 8 },
    },
  });
  const log = options.log ?? openLog({ level: process.env.TEST_LOG ?? 'silent' });
  const opened = await openRuntime({ config, definitions: warehouseSettings, log });
  let at = Date.now();
  const runtime = { ...opened, now: () => new Date(at) };
  await runtime.settings.setMany({
    'external_wms.endpoint': partner.url,
    'external_wms.app_key': appKey,
    'external_wms.app_secret': appSecret,
  });
  const { sql } = database;
  const clients = new Set<ReturnType<typeof openExternalClient>>();
  const deps = { runtime, writeOrderStatus: writeInventoryStatus };

  const worker = (owner: string = randomUUID(), mode: 'sync' | 'async' = 'async') => {
    const client = openExternalClient(runtime);
    clients.add(client);
    const own: TaskDeps = { ...deps, client, owner, mode: () => mode };
    return {
      owner,
      deliver: (more: Partial<Parameters<typeof deliverTasks>[1]> = {}) =>
        deliverTasks(own, { log, signal: new AbortController().signal, ...more }),
    };
  };

  const add = (tasks: readonly NewTask[], values: Partial<Parameters<typeof insertTasks>[2]> = {}) =>
    sql.begin(async (tx) => {
      await insertTasks(tx, tasks, {
        ...{ mode: 'async', maxAttempts: 3, backoffSeconds: 30, now: runtime.now() },
        ...values,
      });
    });

  return {
    ...{ database, sql, runtime, partner, deps, worker, add, log },
    now: () => new Date(at),
    pass: (seconds: number) => {
      at += seconds * 1000;
    },
    /** Inserts unpaid orders with their states, reservations and tasks of external_wms. */
    async orders(
      numbers: readonly string[],
      actions: readonly TaskAction[] = [],
      values: Parameters<typeof add>[1] = {},
    ) {
      await sql`
        insert into orders.orders (order_no, user_id, status, inventory_status, goods_amount, total_amount, address_snapshot, expires_at)
        select n, 1, 1, 'pending', 100, 100, '{}', now() + interval '1 hour' from unnest(${[...numbers]}::text[]) as n`;
      await sql`
        insert into inventory.order_inventory_state (order_no, provider, status)
        select n, 'external_wms', 'pending' from unnest(${[...numbers]}::text[]) as n`;
      await sql`
        insert into inventory.inventory_reservation (biz_type, biz_no, sku_id, qty, status)
        select 'order', n, 1, 1, 'reserved' from unnest(${[...numbers]}::text[]) as n`;
      const tasks = numbers.flatMap((no) => actions.map((action) => orderTask(no, action)));
      if (tasks.length > 0) await add(tasks, values);
    },
    /** The statuses of the order, of its stock state and of its reservation. */
    async statusesOf(order_no: string) {
      const [row] = await sql`
        select o.inventory_status as "order", s.status as state, s.last_error, r.status as reservation
        from orders.orders o join inventory.order_inventory_state s using (order_no)
        join inventory.inventory_reservation r on r.biz_no = o.order_no
        where o.order_no = ${order_no}`;
      return row;
    },
    async task(biz_no: string, action: TaskAction) {
      const tasks = await selectTasks(sql, { biz_no, action }, 1);
      return tasks[0]!;
    },
    /** Resolves when `count` statements of this database wait for a lock. */
    async lockWaits(count: number) {
      for (let waiting = 0; waiting < count; ) {
        const [row] = await sql<{ n: number }[]>`
          select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        waiting = row!.n;
      }
    },
    /** The idempotency keys of the calls, in their order. */
    sentKeys: () => partner.calls.map((call) => String(call.headers['idempotency-key'])),
    requestId: (biz_no: string, action: TaskAction) => requestIdOf(orderTask(biz_no, action)),
    async close() {
      for (const client of clients) await client.close();
      await opened.close();
      await partner.close();
      await database.drop();
      await rm(data, { recursive: true, force: true });
    },
  };
}
export type TaskBench = Awaited<ReturnType<typeof openTaskBench>>;
