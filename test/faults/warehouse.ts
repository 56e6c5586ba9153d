import { setTimeout as sleep } from 'node:timers/promises';
import { externalSettings } from '@tradepost/testing/external-shop';
import { openWire } from '@tradepost/testing/servers/database-proxy';
import { shelve } from '@tradepost/testing/warehouses';
import type { BehaviourOptions } from '@tradepost/warehouse-simulator';
import { createDataFolder, openTarget } from './kills.ts';
import { audit, check, emptyOutcome, type Ground, type Outcome, type Scenario } from './scenario.ts';
import { startShoppers } from './shopper-load.ts';
import { openTestShop, until } from './test-shop.ts';
import {
  allDone,
  balanced,
  mix,
  openWarehouse,
  openWarehouseStage,
  type Part,
  startApi,
  startDaemon,
  startWorker,
  timePasses,
  type WarehouseStage,
} from './warehouse-stage.ts';

/** A partner as the worst day knows it: 30 % of the calls fail, half of these when the work is done. */
const failing: BehaviourOptions = { failRate: 0.3, failAfter: 0.5 };
const callingBack: BehaviourOptions = {
  ...{ callbacks: 'async', callbackDelayMs: 5, callbackJitterMs: 50, carryOut: 'later' },
  ...{ duplicateRate: 0.2, earlyRate: 0.1, lateRate: 0.1, lateMs: 1_500, lostCallbackRate: 0.05 },
  ...{ processingFirstRate: 0.1, callbackPauseMs: 50 },
};
const withCallbacks = { 'external_wms.callback_enabled': true };
const twoWorkers = { only: 'api,worker' };

const people = async (stage: WarehouseStage, clients = 32) => ({
  buyers: await stage.buyers(clients),
  skuIds: (await stage.goods({ stocks: Array.from({ length: 20 }, () => 1_000_000) })).sku_ids,
});

function tellTotals({ warehouse }: WarehouseStage, ground: Ground, outcome: Outcome, begun: number): void {
  const { calls, repeats, callbacks } = warehouse.totals();
  const ms = Math.round(performance.now() - begun);
  ground.progress(`${outcome.confirmed} orders, ${calls} calls, ${repeats} repeats, ${callbacks} callbacks, ${ms} ms`);
}

type Run = (stage: WarehouseStage, outcome: Outcome, ground: Ground) => Promise<void>;
type Options = Parameters<typeof openWarehouseStage>[2];
const onStage = (name: string, about: string, mode: 'sync' | 'async', options: Options, run: Run): Scenario => ({
  name,
  about,
  async run(ground) {
    const outcome = emptyOutcome();
    const stage = await openWarehouseStage(ground.clusterUrl, mode, options);
    const begun = performance.now();
    await run(stage, outcome, ground);
    tellTotals(stage, ground, outcome, begun);
    await stage.close();
    return outcome;
  },
});

async function stop({ child, ended }: Part, outcome: Outcome): Promise<void> {
  child.kill('SIGTERM');
  check(outcome, 'exit code after SIGTERM', await ended, 0);
}

/** The mix without more than the partner's own faults. */
const mixed: Run = async (stage, outcome, { size }) => {
  const shop = await people(stage);
  await mix(stage, outcome, shop, { orders: size === 'long' ? 1_000 : 200 });
  outcome.rounds = 1;
  await allDone(stage);
  if (stage.warehouse.totals().repeats === 0) outcome.faults.push('no call was repeated: nothing has been shown');
  await balanced(stage, outcome);
};

const failingPartner = onStage(
  'warehouse-failing',
  'orders paid, cancelled and run out at a partner that fails 30 % of calls: both ledgers equal, two workers',
  'async',
  { behaviour: failing, flags: twoWorkers },
  mixed,
);
const failingCallbacks = onStage(
  'warehouse-callbacks',
  'the same with callbacks: doubled, early, late, lost',
  'async',
  { behaviour: { ...failing, ...callingBack }, settings: withCallbacks, flags: twoWorkers },
  mixed,
);

/** A worker process that is killed, over and over, when it has made some calls. */
function killedWorkers(stage: WarehouseStage, kills: number, callsBetween: number) {
  const dead: number[] = [];
  let worker: Part | null = null;
  let ending = false;
  const run = async () => {
    while (!ending) {
      // Both of them deliver: the worker of the shop, and the daemon that does nothing else.
      worker = await (dead.length % 2 ? startDaemon : startWorker)(stage.databaseUrl);
      await timePasses(stage.sql, dead);
      const from = stage.warehouse.totals().calls;
      const due = () => stage.warehouse.totals().calls >= from + callsBetween;
      if (dead.length < kills) await until('the worker calls', () => ending || due(), 60);
      else await until('the end', () => ending, 120);
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
      await Promise.race([running, until('all kills', () => dead.length >= kills, 90)]);
      await until('the last worker', () => worker?.child.exitCode === null && worker.child.signalCode === null, 20);
      await timePasses(stage.sql, dead);
    },
    async end(outcome: Outcome): Promise<void> {
      ending = true;
      await running;
      await stop(worker!, outcome);
    },
  };
}

const workersKilled = (name: string, about: string, options: Options): Scenario =>
  onStage(name, about, 'async', options, async (stage, outcome, ground) => {
    const long = ground.size === 'long';
    const [orders, kills] = long ? [1_000, 10] : [200, 3];
    const shop = await people(stage);
    const workers = killedWorkers(stage, kills, long ? 100 : 60);
    await mix(stage, outcome, shop, { orders });
    await workers.finish();
    outcome.rounds = workers.dead.length;
    await allDone(stage);
    check(outcome, 'kills', workers.dead.length, kills);
    if (stage.warehouse.totals().repeats === 0) outcome.faults.push('no call was repeated: nothing has been shown');
    await workers.end(outcome);
    await balanced(stage, outcome);
  });

const killedPlain = workersKilled(
  'warehouse-worker-killed',
  'kill -9 of the worker while it calls a partner that fails 30 %: every action is done once',
  { behaviour: { ...failing, delayMs: 5, jitterMs: 20 } },
);
const killedCallbacks = workersKilled(
  'warehouse-worker-killed-callbacks',
  'the same with callbacks: doubled, early, late, lost',
  { behaviour: { ...failing, ...callingBack, delayMs: 5, jitterMs: 20 }, settings: withCallbacks },
);

const reserverKilled = onStage(
  'warehouse-sync-killed',
  'sync: kill -9 of the API between the reserve of the partner and the order: what got no order is released',
  'sync',
  { behaviour: { delayMs: 10, jitterMs: 40 }, settings: { 'external_wms.timeout_ms': 5_000 } },
  async (stage, outcome, ground) => {
    const { sql, warehouse, databaseUrl } = stage;
    const { buyers, skuIds } = await people(stage, 48);
    const at = openTarget();
    let api = await startApi(databaseUrl);
    at.up(api.url);
    const crowd = startShoppers(at.target, buyers, skuIds);
    const dead: number[] = [];
    const kills = ground.size === 'long' ? 10 : 3;
    for (; outcome.rounds < kills; outcome.rounds += 1) {
      const from = crowd.confirmed();
      await until('orders under load', () => crowd.confirmed() >= from + 60, 60);
      // Every second one in the very moment in which a reserve has been answered.
      if (outcome.rounds % 2) {
        const answered = () => warehouse.witness.calls.filter(({ answered, key }) => answered && /reserve$/.test(key));
        const seen = answered().length;
        await until('a reserve', () => answered().length > seen);
      }
      at.down();
      api.child.kill('SIGKILL');
      await api.ended;
      dead.push(api.child.pid!);
      api = await startApi(databaseUrl);
      at.up(api.url);
      ground.progress(`killed ${outcome.rounds + 1} of ${kills} times, ${crowd.confirmed()} orders confirmed`);
    }
    await crowd.finish();
    const [{ left }] = (await sql`
      select count(*)::int as left from inventory.inventory_integration_tasks
      where status = 'processing' and mode = 'sync' and action = 'reserve'`) as unknown as [{ left: number }];
    if (left === 0) outcome.faults.push('no reservation was left without its order: nothing has been shown');
    const worker = await startWorker(databaseUrl);
    await timePasses(sql, dead);
    await allDone(stage);
    ground.progress(`${left} reservations that were left without an order are given back`);
    await crowd.verify(sql, outcome);
    await stop(api, outcome);
    await stop(worker, outcome);
    await balanced(stage, outcome, { refused: true });
  },
);

/** A partner at its worst, and one that is started again under it. */
const faulty: BehaviourOptions = {
  ...{ failRate: 0.05, hangRate: 0.02, htmlRate: 0.08, stringCodeRate: 0.08, closeRate: 0.08, failAfter: 0.5 },
};
const breakingPartner = (mode: 'sync' | 'async', options: Options): Scenario =>
  onStage(
    `warehouse-breaking-${mode}`,
    `${mode}: the partner hangs, answers pages and code "0", cuts connections and is started again, before and after the work`,
    mode,
    { ...options, flags: twoWorkers },
    async (stage, outcome, ground) => {
      const long = ground.size === 'long';
      const orders = long ? 1_000 : 200;
      const every = long ? 150 : 60;
      const { warehouse, sql } = stage;
      const restart = async () => {
        await warehouse.stop();
        await sleep(100);
        await warehouse.start();
        outcome.rounds += 1;
        await timePasses(sql, []);
      };
      let restarting: Promise<void> = Promise.resolve();
      const shop = await people(stage);
      const onOrder = (count: number) => {
        if (count % every === 0) restarting = restarting.then(restart);
      };
      await mix(stage, outcome, shop, { orders, onOrder });
      await restarting;
      if (outcome.rounds < 2) outcome.faults.push('the partner was hardly ever started again');
      // The last calls of the sync mode may be given up up to a time-out from now.
      await sleep(500);
      await timePasses(sql, []);
      await allDone(stage);
      await balanced(stage, outcome, { refused: mode === 'sync' });
    },
  );
const breakingAsync = breakingPartner('async', {
  behaviour: { ...faulty, ...callingBack },
  settings: { ...withCallbacks, 'external_wms.timeout_ms': 400 },
});
const breakingSync = breakingPartner('sync', { behaviour: faulty, settings: { 'external_wms.timeout_ms': 400 } });

/** A delivery that was asked for anew while it ran counts as used up when the database goes; the new one does its work. */
const lostWithTheDatabase = ['runtime.jobs_failed'];

/** The database goes down under a worker and an API that are processes of their own, and live on. */
const databaseKilled = (mode: 'sync' | 'async'): Scenario => ({
  name: `warehouse-postgres-killed-${mode}`,
  about: `${mode}: PostgreSQL killed -9 or shut down under the worker and under orders; both go on by themselves`,
  async run(ground) {
    const outcome = emptyOutcome();
    const warehouse = await openWarehouse();
    warehouse.change({ ...failing, delayMs: 5, jitterMs: 20 });
    const shelf = await createDataFolder(externalSettings(warehouse.witness.url, mode));
    await shelf.start();
    const wire = await openWire(shelf.url());
    const at = openTarget();
    const [api, worker] = await Promise.all([startApi(wire.url), startWorker(wire.url)]);
    at.up(api.url);
    const begun = performance.now();
    const crowd = startShoppers(at.target, shelf.buyers, shelf.skuIds);
    const calls = () => warehouse.totals().calls;
    for (const rounds = ground.size === 'long' ? 6 : 2; outcome.rounds < rounds; outcome.rounds += 1) {
      const from = [crowd.confirmed(), calls()] as const;
      const isBusy = () => crowd.confirmed() >= from[0] + 100 && calls() >= from[1] + 100;
      await until('orders and calls under load', isBusy, 60);
      process.kill(shelf.postmaster(), outcome.rounds % 2 ? 'SIGINT' : 'SIGKILL');
      await shelf.start();
      wire.target(shelf.url());
      ground.progress(`restart ${outcome.rounds + 1} of ${rounds}, ${crowd.confirmed()} orders confirmed`);
    }
    await crowd.finish();
    // Nobody calls any more what was called when the database went; it is looked at when its lock is over.
    await sleep(4_000);
    await timePasses(shelf.sql(), 'all');
    const books = { sql: shelf.sql(), warehouse };
    await allDone(books);
    const { calls: all, repeats } = warehouse.totals();
    const ms = Math.round(performance.now() - begun);
    ground.progress(`${crowd.confirmed()} orders, ${all} calls, ${repeats} repeats, ${ms} ms`);
    if (crowd.interrupted() === 0) outcome.faults.push('no request was cut off: nothing has been shown');
    await crowd.verify(shelf.sql(), outcome);
    await balanced(books, outcome, { refused: mode === 'sync', except: lostWithTheDatabase });
    for (const part of [api, worker])
      check(outcome, 'a process', [part.child.exitCode, part.child.signalCode], [null, null]);
    await stop(api, outcome);
    await stop(worker, outcome);
    await wire.close();
    await warehouse.close();
    return outcome;
  },
});

const shelvesKilled: Scenario = {
  name: 'shelves-killed',
  about: 'warehouses of our own: kill -9 of the API while 48 clients order, pay and cancel; movements stay a chain',
  async run(ground) {
    const outcome = emptyOutcome();
    const stage = await openTestShop(ground.clusterUrl, {}, { 'inventory.provider': 'builtin_wms' });
    const { sku_ids: skuIds } = await stage.goods({ stocks: Array.from({ length: 40 }, () => 0) });
    const stockOf = (from: number) =>
      Object.fromEntries(skuIds.filter((_, n) => n % 4 !== from).map((sku) => [sku, 1_000_000]));
    await shelve(stage.sql, { F1: stockOf(0), F2: stockOf(1), F3: stockOf(2) });
    const buyers = await stage.buyers(48);
    const at = openTarget();
    const start = async () => {
      const server = await startApi(stage.databaseUrl);
      at.up(server.url);
      return server;
    };
    let server = await start();
    const crowd = startShoppers(at.target, buyers, skuIds);
    for (const rounds = ground.size === 'long' ? 10 : 3; outcome.rounds < rounds; outcome.rounds += 1) {
      const from = crowd.confirmed();
      await until('orders under load', () => crowd.confirmed() >= from + 100, 60);
      at.down();
      server.child.kill('SIGKILL');
      await server.ended;
      await audit(stage.sql, outcome);
      server = await start();
      ground.progress(`killed ${outcome.rounds + 1} of ${rounds} times, ${crowd.confirmed()} orders confirmed`);
    }
    await crowd.finish();
    if (crowd.interrupted() === 0) outcome.faults.push('no request was cut off: nothing has been shown');
    await crowd.verify(stage.sql, outcome);
    const [moved] = await stage.sql<{ sold: number }[]>`
      select coalesce(-sum(change_qty), 0)::int as sold from inventory.stock_movements where biz_type = 'order_outbound'`;
    const [sold] = await stage.sql<{ sold: number }[]>`
      select coalesce(sum(i.qty), 0)::int as sold from orders.order_items i join orders.orders o on o.id = i.order_id
      where o.status = 2`;
    check(outcome, 'pieces that left the shelves', moved, sold);
    await audit(stage.sql, outcome);
    await stop(server, outcome);
    await stage.close();
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
