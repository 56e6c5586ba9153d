import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sql } from '@tradepost/postgres';
import type { ConfigKey } from '@tradepost/runtime';
import { externalSettings, ledgerDifferences, partner } from '@tradepost/testing/external-shop';
import { defer } from '@tradepost/testing/processes/cleanup';
import { type RunningServer, startProcess } from '@tradepost/testing/processes/process';
import { type BehaviourOptions, openSimulator, type Simulator } from '@tradepost/warehouse-simulator';
import { audit, check, type Outcome } from './scenario.ts';
import { type Buyer, type Instance, openTestShop, order, payOrCancel, type TestShop, until } from './test-shop.ts';
import { openWitness, type Witness } from './warehouse-witness.ts';

/** A simulated warehouse with its books on disk, which can be stopped and started again at the same address. */
export type Warehouse = {
  witness: Witness;
  simulator(): Simulator;
  change(behaviour: BehaviourOptions): void;
  /** Also adds up what the runs before have counted. */
  totals(): { calls: number; repeats: number; callbacks: number };
  stop(): Promise<void>;
  start(): Promise<void>;
};
/** A shop whose stock a partner keeps. */
type Books = { sql: Sql; warehouse: Warehouse };
export type WarehouseStage = TestShop & Books;

export async function openWarehouse(): Promise<Warehouse & { close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'tradepost-warehouse-'));
  const journal = join(folder, 'journal');
  let simulator = await openSimulator({ ...partner, journal });
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
  const witness = await openWitness(() => simulator.url);
  const close = defer(async () => {
    await witness.close();
    await simulator.close();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    witness,
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
      simulator = await openSimulator({ ...partner, ...behaviour, journal, port });
    },
    close,
  };
}

/** `only: 'api,worker'` in the flags runs a worker in both instances. */
export async function openWarehouseStage(
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
): Promise<WarehouseStage> {
  const warehouse = await openWarehouse();
  const rows = externalSettings(warehouse.witness.url, mode, { 'external_wms.callback_deadline_sec': 1, ...settings });
  const stage = await openTestShop(clusterUrl, flags, rows);
  warehouse.change({ callbackUrl: `${stage.second.url}/admin/api/external-wms/callback`, ...behaviour });
  return {
    ...stage,
    warehouse,
    async close() {
      await stage.close();
      await warehouse.close();
    },
  };
}

/** A process that can be stopped and killed. */
export type Part = Pick<RunningServer, 'child' | 'ended'>;
/** A process that only works the jobs of this database. */
export const startWorker = (databaseUrl: string): Promise<RunningServer> =>
  startPart('worker', databaseUrl, /Worker\s+running/);
/** `daemons/wms-retry.ts`, which only delivers. */
export async function startDaemon(databaseUrl: string): Promise<Part> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../daemons/wms-retry.ts')], {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', LOG_LEVEL: 'error', DATABASE_URL: databaseUrl },
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
/** A process that only serves requests. */
export const startApi = (databaseUrl: string): Promise<RunningServer> => startPart('api', databaseUrl);

async function startPart(only: string, databaseUrl: string, ready?: RegExp): Promise<RunningServer> {
  const part = await startProcess(['--only', only, '--seed', 'none'], { DATABASE_URL: databaseUrl }, ready);
  const forget = defer(async () => part.child.kill('SIGKILL'));
  void part.ended.then(forget);
  return part;
}

/**
 * As if the time had gone by for which a killed process had locked its tasks, and for which a release rests behind a reserve that
 * may still be on its way; the minute's job has come, too. Tasks that somebody alive has in hand stay his.
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

/** Until nobody owes anybody anything. */
export async function allDone({ sql, warehouse }: Books, seconds = 60): Promise<void> {
  await until('no task open', async () => (await openTasks(sql)) === 0, seconds).catch(async (error: Error) => {
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
  await until('no callback owed', () => owed().length === 0, seconds);
}

/** Both books to the piece, every order where its last act has led, and every audit. */
export async function balanced(
  { sql, warehouse }: Books,
  outcome: Outcome,
  { except = [], refused = false }: { except?: readonly string[]; refused?: boolean } = {},
): Promise<void> {
  outcome.faults.push(...(await ledgerDifferences(sql, warehouse.simulator())).slice(0, 20));
  const withCallbacks = warehouse.simulator().behaviour().callbacks === 'async';
  outcome.faults.push(...warehouse.witness.faults(withCallbacks).slice(0, 20));
  const wrong = await sql`
    select o.order_no, o.status, o.inventory_status from orders.orders o
    where o.inventory_status <> case o.status when 1 then 'reserved' when 2 then 'confirmed' when 6 then 'released' end
    limit 10`;
  check(outcome, 'orders whose stock is not where they are', wrong, []);
  // In sync mode a reserve that got no order is one that failed.
  const failed = await sql`
    select request_id, mode, attempt_count, last_code, last_error from inventory.inventory_integration_tasks
    where status = 'failed' and not (${refused} and mode = 'sync' and action = 'reserve') limit 10`;
  check(outcome, 'failed tasks', failed, []);
  await audit(sql, outcome, except);
}

type Fate = 'pay' | 'cancel' | 'expire' | 'both' | 'leave';
const fates: readonly Fate[] = ['pay', 'cancel', 'expire', 'both', 'pay', 'cancel', 'leave'];

type MixOptions = {
  orders: number;
  /** Called after every order with how many there are. */
  onOrder?: (count: number) => Promise<void> | void;
};

/** Orders that are paid, cancelled, both at once, run out or are left alone, by as many clients as there are buyers. */
export async function mix(
  { first, second, sql }: TestShop,
  outcome: Outcome,
  { buyers, skuIds }: { buyers: readonly Buyer[]; skuIds: readonly number[] },
  { orders, onOrder = () => {} }: MixOptions,
): Promise<void> {
  let begun = 0;
  let placed = 0;
  const expire = (at: Instance) => at.job('orders.expire');
  const client = async (buyer: Buyer): Promise<void> => {
    while (begun < orders) {
      const n = begun;
      begun += 1;
      const [here, there] = n % 2 ? [first, second] : [second, first];
      const skus = [0, 1].slice(0, 1 + (n % 2)).map((k) => skuIds[(n * 7 + k * 3) % skuIds.length]!);
      const answer = await order(here, buyer, [...new Set(skus)]);
      outcome.requests += 1;
      if (answer.code !== 0) {
        outcome.refused += 1;
        continue;
      }
      outcome.confirmed += 1;
      const id = answer.data.id as number;
      const fate = fates[n % fates.length]!;
      if (fate === 'expire') {
        await sql`update orders.orders set expires_at = now() - interval '1 second' where id = ${id}`;
        if (n % 3 === 0) await expire(here);
      } else if (fate !== 'leave') {
        const acts = fate === 'both' ? (['pay', 'cancel'] as const) : [fate];
        const answers = await Promise.all(acts.map((verb, k) => payOrCancel(k ? there : here, verb, buyer, id)));
        outcome.requests += answers.length;
        check(outcome, `acts of order ${id} that took it`, answers.filter(({ code }) => code === 0).length, 1);
      }
      placed += 1;
      await onOrder(placed);
    }
  };
  await Promise.all(buyers.map(client));
  await expire(first);
}
