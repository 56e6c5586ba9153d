import { setTimeout as sleep } from 'node:timers/promises';
import { externalSettings } from '@tradepost/testing/external-shop';
import { openDatabaseProxy } from '@tradepost/testing/servers/database-proxy';
import { stockWarehouses } from '@tradepost/testing/warehouses';
import type { BehaviourOptions } from '@tradepost/warehouse-simulator';
import { createDataFolder, openTarget } from './kills.ts';
import { audit, check, type Environment, emptyOutcome, type Outcome, type Scenario } from './scenario.ts';
import { startShoppers } from './shopper-load.ts';
import { openTestShop, until } from './test-shop.ts';
import {
  allDone,
  balanced,
  mix,
  openWarehouse,
  openWarehouseShop,
  type ServerProcess,
  startApi,
  startDaemon,
  startWorker,
  timePasses,
  type WarehouseShop,
} from './warehouse-shop.ts';

/** 30 % of the calls fail, half of them after the work is done. */
const failing: BehaviourOptions = { failRate: 0.3, failAfter: 0.5 };
const callingBack: BehaviourOptions = {
  ...{ callbacks: 'async', callbackDelayMs: 5, callbackJitterMs: 50, carryOut: 'later' },
  ...{ duplicateRate: 0.2, earlyRate: 0.1, lateRate: 0.1, lateMs: 1_500, lostCallbackRate: 0.05 },
  ...{ processingFirstRate: 0.1, callbackPauseMs: 50 },
};
const withCallbacks = { 'external_wms.callback_enabled': true };
const twoWorkers = { only: 'api,worker' };

const openLoad = async (shop: WarehouseShop, clients = 32) => ({
  buyers: await shop.buyers(clients),
  skuIds: (await shop.goods({ stocks: Array.from({ length: 20 }, () => 1_000_000) })).sku_ids,
});

function reportTotals({ warehouse }: WarehouseShop, environment: Environment, outcome: Outcome, begun: number): void {
  const { calls, repeats, callbacks } = warehouse.totals();
  const ms = Math.round(performance.now() - begun);
  environment.progress(
    `${outcome.confirmed} orders, ${calls} calls, ${repeats} repeats, ${callbacks} callbacks, ${ms} ms`,
  );
}

type Run = (shop: WarehouseShop, outcome: Outcome, environment: Environment) => Promise<void>;
type Options = Parameters<typeof openWarehouseShop>[2];
const scenario = (name: string, about: string, mode: 'sync' | 'async', options: Options, run: Run): Scenario => ({
  name,
  about,
  async run(environment) {
    const outcome = emptyOutcome();
    const shop = await openWarehouseShop(environment.clusterUrl, mode, options);
    const begun = performance.now();
    await run(shop, outcome, environment);
    reportTotals(shop, environment, outcome, begun);
    await shop.close();
    return outcome;
  },
});

async function stop({ child, ended }: ServerProcess, outcome: Outcome): Promise<void> {
  child.kill('SIGTERM');
  check(outcome, 'exit code after SIGTERM', await ended, 0);
}

/** Runs the mixed load. The faults of the warehouse are the only faults. */
const mixed: Run = async (shop, outcome, { size }) => {
  const load = await openLoad(shop);
  await mix(shop, outcome, load, { orders: size === 'long' ? 1_000 : 100 });
  outcome.rounds = 1;
  await allDone(shop);
  if (shop.warehouse.totals().repeats === 0)
    outcome.faults.push('no call was repeated, so the scenario proves nothing');
  await balanced(shop, outcome);
};

const failingPartner = scenario(
  'warehouse-failing',
  'orders paid, cancelled and expired while the warehouse fails 30 % of calls, two workers: both ledgers agree',
  'async',
  { behaviour: failing, flags: twoWorkers },
  mixed,
);
const failingCallbacks = scenario(
  'warehouse-callbacks',
  'the same with callbacks: duplicate, early, late, lost',
  'async',
  { behaviour: { ...failing, ...callingBack }, settings: withCallbacks, flags: twoWorkers },
  mixed,
);

/** Runs worker processes one after the other. Each is killed after some calls. */
function killedWorkers(shop: WarehouseShop, kills: number, callsBetween: number) {
  const dead: number[] = [];
  let worker: ServerProcess | null = null;
  let ending = false;
  const run = async () => {
    while (!ending) {
      // The worker of the shop and the delivery daemon take turns.
      worker = await (dead.length % 2 ? startDaemon : startWorker)(shop.databaseUrl);
      await timePasses(shop.sql, dead);
      const from = shop.warehouse.totals().calls;
      const due = () => shop.warehouse.totals().calls >= from + callsBetween;
      if (dead.length < kills) await until('the worker calls', () => ending || due(), 180);
      else await until('the end', () => ending, 200);
      if (ending) return;
      worker.child.kill('SIGKILL');
      await worker.ended;
      dead.push(worker.child.pid!);
    }
  };
  const running = run();
  running.catch(() => {});
  return {
    dead,
    async finish(): Promise<void> {
      await Promise.race([running, until('all kills', () => dead.length >= kills, 200)]);
      await until('the last worker', () => worker?.child.exitCode === null && worker.child.signalCode === null, 60);
      await timePasses(shop.sql, dead);
    },
    async end(outcome: Outcome): Promise<void> {
      ending = true;
      await running;
      await stop(worker!, outcome);
    },
  };
}

const workersKilled = (name: string, about: string, options: Options): Scenario =>
  scenario(name, about, 'async', options, async (shop, outcome, environment) => {
    const long = environment.size === 'long';
    const [orders, kills] = long ? [1_000, 10] : [100, 2];
    const load = await openLoad(shop);
    const workers = killedWorkers(shop, kills, long ? 100 : 40);
    await mix(shop, outcome, load, { orders });
    await workers.finish();
    outcome.rounds = workers.dead.length;
    await allDone(shop);
    check(outcome, 'kills', workers.dead.length, kills);
    if (shop.warehouse.totals().repeats === 0)
      outcome.faults.push('no call was repeated, so the scenario proves nothing');
    await workers.end(outcome);
    await balanced(shop, outcome);
  });

const killedPlain = workersKilled(
  'warehouse-worker-killed',
  'kill -9 of the worker while it calls a warehouse that fails 30 % of calls: every action is done once',
  { behaviour: { ...failing, delayMs: 5, jitterMs: 20 } },
);
const killedCallbacks = workersKilled(
  'warehouse-worker-killed-callbacks',
  'the same with callbacks: duplicate, early, late, lost',
  { behaviour: { ...failing, ...callingBack, delayMs: 5, jitterMs: 20 }, settings: withCallbacks },
);

const reserverKilled = scenario(
  'warehouse-sync-killed',
  'sync: kill -9 of the API between the reservation in the warehouse and the order: reservations without an order are released',
  'sync',
  { behaviour: { delayMs: 10, jitterMs: 40 }, settings: { 'external_wms.timeout_ms': 5_000 } },
  async (shop, outcome, environment) => {
    const { sql, warehouse, databaseUrl } = shop;
    const { buyers, skuIds } = await openLoad(shop, 48);
    const at = openTarget();
    let api = await startApi(databaseUrl);
    at.up(api.url);
    const crowd = startShoppers(at.target, buyers, skuIds);
    const dead: number[] = [];
    const [kills, between] = environment.size === 'long' ? [10, 60] : [2, 30];
    for (; outcome.rounds < kills; outcome.rounds += 1) {
      const from = crowd.confirmed();
      await until('orders under load', () => crowd.confirmed() >= from + between, 180);
      // Every second kill follows immediately after the answer to a reserve. The others come while this answer is held back.
      const waiting = outcome.rounds % 2 ? null : warehouse.recorder.holdAnswers('reserve');
      if (waiting) {
        await until('a reserve without its answer', () => waiting.held() > 0);
      } else {
        const answered = () => warehouse.recorder.calls.filter(({ answered, key }) => answered && /reserve$/.test(key));
        const seen = answered().length;
        await until('a reserve', () => answered().length > seen);
      }
      at.down();
      api.child.kill('SIGKILL');
      await api.ended;
      dead.push(api.child.pid!);
      waiting?.release();
      api = await startApi(databaseUrl);
      at.up(api.url);
      environment.progress(`killed ${outcome.rounds + 1} of ${kills} times, ${crowd.confirmed()} orders confirmed`);
    }
    await crowd.finish();
    const [{ left }] = (await sql`
      select count(*)::int as left from inventory.inventory_integration_tasks
      where status = 'processing' and mode = 'sync' and action = 'reserve'`) as unknown as [{ left: number }];
    if (left === 0) outcome.faults.push('no reservation was left without an order, so the scenario proves nothing');
    const worker = await startWorker(databaseUrl);
    await timePasses(sql, dead);
    await allDone(shop);
    environment.progress(`${left} reservations without an order were released`);
    await crowd.verify(sql, outcome);
    await stop(api, outcome);
    await stop(worker, outcome);
    await balanced(shop, outcome, { refused: true });
  },
);

/** All faults of a warehouse that can happen before and after the work. */
const faulty: BehaviourOptions = {
  ...{ failRate: 0.05, hangRate: 0.02, htmlRate: 0.08, stringCodeRate: 0.08, closeRate: 0.08, failAfter: 0.5 },
};
const breakingPartner = (mode: 'sync' | 'async', options: Options): Scenario =>
  scenario(
    `warehouse-breaking-${mode}`,
    `${mode}: the warehouse hangs, answers with HTML and code "0", cuts connections and restarts, before and after the work`,
    mode,
    { ...options, flags: twoWorkers },
    async (shop, outcome, environment) => {
      const long = environment.size === 'long';
      const orders = long ? 1_000 : 100;
      const every = long ? 150 : 40;
      const { warehouse, sql } = shop;
      const restart = async () => {
        await warehouse.stop();
        await sleep(100);
        await warehouse.start();
        outcome.rounds += 1;
        await timePasses(sql, []);
      };
      let restarting: Promise<void> = Promise.resolve();
      const load = await openLoad(shop);
      const onOrder = (count: number) => {
        if (count % every === 0) restarting = restarting.then(restart);
      };
      await mix(shop, outcome, load, { orders, onOrder });
      await restarting;
      if (outcome.rounds < 2) outcome.faults.push('the warehouse restarted less than twice');
      // In sync mode the last calls can run for one more time-out, and on a busy machine for longer.
      await quiet(() => warehouse.totals().calls, 1_000);
      await timePasses(sql, []);
      await allDone(shop);
      await balanced(shop, outcome, { refused: mode === 'sync' });
    },
  );
const breakingAsync = breakingPartner('async', {
  behaviour: { ...faulty, ...callingBack },
  settings: { ...withCallbacks, 'external_wms.timeout_ms': 400 },
});
const breakingSync = breakingPartner('sync', { behaviour: faulty, settings: { 'external_wms.timeout_ms': 1_500 } });

/** A delivery job that was enqueued again while it ran can count as failed when the database stops. The new job does its work. */
const lostWithTheDatabase = ['runtime.jobs_failed'];

/** Waits until `calls` has not grown for this time, at most for half a minute. */
async function quiet(calls: () => number, forMs: number): Promise<void> {
  const end = performance.now() + 30_000;
  for (let before = -1; before !== calls() && performance.now() < end; await sleep(forMs)) before = calls();
}

/** The database stops while an API process and a worker process keep running. */
const databaseKilled = (mode: 'sync' | 'async'): Scenario => ({
  name: `warehouse-postgres-killed-${mode}`,
  about: `${mode}: PostgreSQL is killed or shut down while orders are placed and tasks delivered; both processes continue`,
  async run(environment) {
    const outcome = emptyOutcome();
    const warehouse = await openWarehouse();
    warehouse.change({ ...failing, delayMs: 5, jitterMs: 20 });
    const shelf = await createDataFolder(externalSettings(warehouse.recorder.url, mode));
    await shelf.start();
    const databaseProxy = await openDatabaseProxy(shelf.url());
    const at = openTarget();
    const [api, worker] = await Promise.all([startApi(databaseProxy.url), startWorker(databaseProxy.url)]);
    at.up(api.url);
    const begun = performance.now();
    const crowd = startShoppers(at.target, shelf.buyers, shelf.skuIds);
    const calls = () => warehouse.totals().calls;
    const [rounds, between] = environment.size === 'long' ? [6, 100] : [2, 50];
    for (; outcome.rounds < rounds; outcome.rounds += 1) {
      const from = [crowd.confirmed(), calls()] as const;
      const isBusy = () => crowd.confirmed() >= from[0] + between && calls() >= from[1] + between;
      await until('orders and calls under load', isBusy, 180);
      process.kill(shelf.postmaster(), outcome.rounds % 2 ? 'SIGINT' : 'SIGKILL');
      await shelf.start();
      databaseProxy.target(shelf.url());
      environment.progress(`restart ${outcome.rounds + 1} of ${rounds}, ${crowd.confirmed()} orders confirmed`);
    }
    await crowd.finish();
    // Tasks whose calls ended with the database keep their locks until these expire. A call of the API that is still running must end
    // first: its reservation would arrive after the release that the end of its lock causes.
    await quiet(calls, 4_000);
    await timePasses(shelf.sql(), 'all');
    const ledgers = { sql: shelf.sql(), warehouse };
    await allDone(ledgers);
    const { calls: all, repeats } = warehouse.totals();
    const ms = Math.round(performance.now() - begun);
    environment.progress(`${crowd.confirmed()} orders, ${all} calls, ${repeats} repeats, ${ms} ms`);
    if (crowd.interrupted() === 0) outcome.faults.push('no request was cut off, so the scenario proves nothing');
    await crowd.verify(shelf.sql(), outcome);
    await balanced(ledgers, outcome, { refused: mode === 'sync', except: lostWithTheDatabase });
    for (const part of [api, worker])
      check(outcome, 'a process', [part.child.exitCode, part.child.signalCode], [null, null]);
    await stop(api, outcome);
    await stop(worker, outcome);
    await databaseProxy.close();
    await warehouse.close();
    return outcome;
  },
});

const shelvesKilled: Scenario = {
  name: 'shelves-killed',
  about: 'own warehouses: kill -9 of the API while 48 clients order, pay and cancel; the movements stay consistent',
  async run(environment) {
    const outcome = emptyOutcome();
    const shop = await openTestShop(environment.clusterUrl, {}, { 'inventory.provider': 'builtin_wms' });
    const { sku_ids: skuIds } = await shop.goods({ stocks: Array.from({ length: 40 }, () => 0) });
    const stockOf = (from: number) =>
      Object.fromEntries(skuIds.filter((_, n) => n % 4 !== from).map((sku) => [sku, 1_000_000]));
    await stockWarehouses(shop.sql, { F1: stockOf(0), F2: stockOf(1), F3: stockOf(2) });
    const buyers = await shop.buyers(48);
    const at = openTarget();
    const start = async () => {
      const server = await startApi(shop.databaseUrl);
      at.up(server.url);
      return server;
    };
    let server = await start();
    const crowd = startShoppers(at.target, buyers, skuIds);
    for (const rounds = environment.size === 'long' ? 10 : 2; outcome.rounds < rounds; outcome.rounds += 1) {
      const from = crowd.confirmed();
      await until('orders under load', () => crowd.confirmed() >= from + 100, 180);
      at.down();
      server.child.kill('SIGKILL');
      await server.ended;
      await audit(shop.sql, outcome);
      server = await start();
      environment.progress(`killed ${outcome.rounds + 1} of ${rounds} times, ${crowd.confirmed()} orders confirmed`);
    }
    await crowd.finish();
    if (crowd.interrupted() === 0) outcome.faults.push('no request was cut off, so the scenario proves nothing');
    await crowd.verify(shop.sql, outcome);
    const [moved] = await shop.sql<{ sold: number }[]>`
      select coalesce(-sum(change_qty), 0)::int as sold from inventory.stock_movements where biz_type = 'order_outbound'`;
    const [sold] = await shop.sql<{ sold: number }[]>`
      select coalesce(sum(i.qty), 0)::int as sold from orders.order_items i join orders.orders o on o.id = i.order_id
      where o.status = 2`;
    check(outcome, 'pieces that left the shelves', moved, sold);
    await audit(shop.sql, outcome);
    await stop(server, outcome);
    await shop.close();
    return outcome;
  },
};

export const warehouseScenarios: readonly Scenario[] = [
  failingPartner,
  failingCallbacks,
  killedPlain,
  killedCallbacks,
  reserverKilled,
  breakingAsync,
  breakingSync,
  databaseKilled('async'),
  databaseKilled('sync'),
  shelvesKilled,
];
