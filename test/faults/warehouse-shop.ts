import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sql } from '@tradepost/postgres';
import type { ConfigKey } from '@tradepost/runtime';
import { externalSettings, ledgerDifferences, warehouseAccount } from '@tradepost/testing/external-shop';
import { defer } from '@tradepost/testing/processes/cleanup';
import { commandEnvironment, type RunningServer, startProcess } from '@tradepost/testing/processes/process';
import { type BehaviourOptions, openSimulator, type Simulator } from '@tradepost/warehouse-simulator';
import { audit, check, type Outcome } from './scenario.ts';
import { type Buyer, type Instance, openTestShop, order, payOrCancel, type TestShop, until } from './test-shop.ts';
import { type CallRecorder, openCallRecorder } from './warehouse-recorder.ts';

/** A simulated warehouse with a journal. It can be stopped and started again at the same address. */
export type Warehouse = {
  recorder: CallRecorder;
  simulator(): Simulator;
  change(behaviour: BehaviourOptions): void;
  /** The counts of this run and of all earlier runs. */
  totals(): { calls: number; repeats: number; callbacks: number };
  stop(): Promise<void>;
  start(): Promise<void>;
};
/** The database of a shop and the external warehouse that owns its stock. */
type Ledgers = { sql: Sql; warehouse: Warehouse };
export type WarehouseShop = TestShop & Ledgers;

export async function openWarehouse(): Promise<Warehouse & { close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'tradepost-warehouse-'));
  const journal = join(folder, 'journal');
  let simulator = await openSimulator({ ...warehouseAccount, journal });
  const port = Number(new URL(simulator.url).port);
  let behaviour: BehaviourOptions = {};
  const before = { calls: 0, repeats: 0, callbacks: 0 };
  const counted = () => {
    const { calls, repeats, callbacks } = simulator.counters();
    return { calls, repeats, callbacks: callbacks.sent };
  };
  const totals = () => {
    const now = counted();
    return {
      calls: before.calls + now.calls,
      repeats: before.repeats + now.repeats,
      callbacks: before.callbacks + now.callbacks,
    };
  };
  const recorder = await openCallRecorder(() => simulator.url);
  const close = defer(async () => {
    await recorder.close();
    await simulator.close();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    recorder,
    simulator: () => simulator,
    change(changes) {
      behaviour = { ...behaviour, ...changes };
      simulator.change(changes);
    },
    totals,
    async stop() {
      Object.assign(before, totals());
      await simulator.close();
    },
    async start() {
      simulator = await openSimulator({ ...warehouseAccount, ...behaviour, journal, port });
    },
    close,
  };
}

/** Opens a shop of two instances with a simulated warehouse. The flag `only: 'api,worker'` runs a worker in both. */
export async function openWarehouseShop(
  clusterUrl: string,
  mode: 'sync' | 'async',
  {
    settings = {},
    behaviour = {},
    flags = {},
  }: {
    settings?: Readonly<Record<string, unknown>>;
    behaviour?: BehaviourOptions;
    flags?: Partial<Record<ConfigKey, unknown>>;
  } = {},
): Promise<WarehouseShop> {
  const warehouse = await openWarehouse();
  const rows = externalSettings(warehouse.recorder.url, mode, { 'external_wms.callback_deadline_sec': 1, ...settings });
  const shop = await openTestShop(clusterUrl, flags, rows);
  warehouse.change({ callbackUrl: `${shop.second.url}/admin/api/external-wms/callback`, ...behaviour });
  return {
    ...shop,
    warehouse,
    async close() {
      await shop.close();
      await warehouse.close();
    },
  };
}

/** A server process that can be stopped and killed. */
export type ServerProcess = Pick<RunningServer, 'child' | 'ended'>;
/** Starts a process that only runs jobs. */
export const startWorker = (databaseUrl: string): Promise<RunningServer> =>
  startRole('worker', databaseUrl, /Worker\s+running/);
/** Starts `daemons/wms-retry.ts`, which only delivers tasks. */
export async function startDaemon(databaseUrl: string): Promise<ServerProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../daemons/wms-retry.ts')], {
    env: commandEnvironment({ DATABASE_URL: databaseUrl }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const forget = defer(async () => child.kill('SIGKILL'));
  void ended.then(forget);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const gone = ended.then((code) => {
    throw new Error(`the daemon ended with ${code}: ${output}`);
  });
  gone.catch(() => {});
  await Promise.race([gone, until('the daemon runs', () => /Delivering/.test(output), 30)]);
  return { child, ended };
}
/** Starts a process that only serves requests. */
export const startApi = (databaseUrl: string): Promise<RunningServer> => startRole('api', databaseUrl);

async function startRole(only: string, databaseUrl: string, ready?: RegExp): Promise<RunningServer> {
  const part = await startProcess(['--only', only, '--seed', 'none'], { DATABASE_URL: databaseUrl }, ready);
  const forget = defer(async () => part.child.kill('SIGKILL'));
  void part.ended.then(forget);
  return part;
}

/**
 * Simulates the passing of time: the locks of killed processes expire, delayed releases become due, and the delivery job
 * runs. Tasks that are locked by a live process are not changed.
 */
export async function timePasses(sql: Sql, dead: readonly number[] | 'all'): Promise<void> {
  await sql`
    update inventory.inventory_integration_tasks
    set next_retry_at = now(), lock_expires_at = case when lock_expires_at is not null then now() end
    where (status = 'processing' and lock_owner is not null
           and (${dead === 'all'} or split_part(lock_owner, ':', 2) = any(${dead === 'all' ? [] : dead.map(String)}::text[])))
       or (status = 'pending' and action = 'release' and next_retry_at > now())`;
  await sql`select graphile_worker.add_job('inventory.deliver', '{}'::json)`;
}

async function openTasks(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from inventory.inventory_integration_tasks where status in ('pending', 'processing')`;
  return row!.n;
}

/** Waits until no task is open and no callback is owed. */
export async function allDone({ sql, warehouse }: Ledgers, seconds = 60): Promise<void> {
  await until('no task is open', async () => (await openTasks(sql)) === 0, seconds).catch(async (error: Error) => {
    const open = await sql`
      select request_id, status, mode, attempt_count, next_retry_at - now() as due, lock_owner, last_code, last_error
      from inventory.inventory_integration_tasks where status in ('pending', 'processing') order by id limit 5`;
    throw new Error(`${error.message}: ${await openTasks(sql)} open, ${JSON.stringify(open)}`);
  });
  const owed = () =>
    warehouse
      .simulator()
      .ledger()
      .callbacks.filter(({ state }) => state === 'owed');
  await until('no callback is owed', () => owed().length === 0, seconds);
}

/** Checks that both ledgers agree, that each order has the inventory status of its state, and that all audits pass. */
export async function balanced(
  { sql, warehouse }: Ledgers,
  outcome: Outcome,
  { except = [], refused = false }: { except?: readonly string[]; refused?: boolean } = {},
): Promise<void> {
  outcome.faults.push(...(await ledgerDifferences(sql, warehouse.simulator())).slice(0, 20));
  const withCallbacks = warehouse.simulator().behaviour().callbacks === 'async';
  outcome.faults.push(...warehouse.recorder.faults(withCallbacks).slice(0, 20));
  const wrong = await sql`
    select o.order_no, o.status, o.inventory_status from orders.orders o
    where o.inventory_status <> case o.status when 1 then 'reserved' when 2 then 'confirmed' when 6 then 'released' end
    limit 10`;
  check(outcome, 'orders with the wrong inventory status', wrong, []);
  // In sync mode, the reserve task of a refused order has failed.
  const failed = await sql`
    select request_id, mode, attempt_count, last_code, last_error from inventory.inventory_integration_tasks
    where status = 'failed' and not (${refused} and mode = 'sync' and action = 'reserve') limit 10`;
  check(outcome, 'failed tasks', failed, []);
  await audit(sql, outcome, except);
}

type OrderEvent = 'pay' | 'cancel' | 'expire' | 'both' | 'leave';
const orderEvents: readonly OrderEvent[] = ['pay', 'cancel', 'expire', 'both', 'pay', 'cancel', 'leave'];

type MixOptions = {
  /** Orders to place. One that is refused is placed again. */
  orders: number;
  /** Called once for every order that was placed, with its number. */
  onOrder?: (count: number) => Promise<void> | void;
};

/** Places orders that are then paid, cancelled, both at the same time, expired, or left unpaid. Each buyer is one client. */
export async function mix(
  { first, second, sql }: TestShop,
  outcome: Outcome,
  { buyers, skuIds }: { buyers: readonly Buyer[]; skuIds: readonly number[] },
  { orders, onOrder = () => {} }: MixOptions,
): Promise<void> {
  let begun = 0;
  let running = 0;
  let placed = 0;
  const expire = (at: Instance) => at.job('orders.expire');
  const client = async (buyer: Buyer): Promise<void> => {
    while (placed + running < orders) {
      // On a busy machine most calls of a warehouse can exceed its time-out.
      if (begun >= orders * 20) throw new Error(`only ${placed} of ${begun} orders were placed`);
      const n = begun;
      begun += 1;
      running += 1;
      const [here, there] = n % 2 ? [first, second] : [second, first];
      const skus = [0, 1].slice(0, 1 + (n % 2)).map((k) => skuIds[(n * 7 + k * 3) % skuIds.length]!);
      const answer = await order(here, buyer, [...new Set(skus)]);
      outcome.requests += 1;
      running -= 1;
      if (answer.code !== 0) {
        outcome.refused += 1;
        continue;
      }
      placed += 1;
      const count = placed;
      outcome.confirmed += 1;
      const id = answer.data.id as number;
      const event = orderEvents[n % orderEvents.length]!;
      if (event === 'expire') {
        await sql`update orders.orders set expires_at = now() - interval '1 second' where id = ${id}`;
        if (n % 3 === 0) await expire(here);
      } else if (event !== 'leave') {
        const actions = event === 'both' ? (['pay', 'cancel'] as const) : [event];
        const answers = await Promise.all(actions.map((verb, k) => payOrCancel(k ? there : here, verb, buyer, id)));
        outcome.requests += answers.length;
        check(outcome, `successful actions of order ${id}`, answers.filter(({ code }) => code === 0).length, 1);
      }
      await onOrder(count);
    }
  };
  await Promise.all(buyers.map(client));
  await expire(first);
}
