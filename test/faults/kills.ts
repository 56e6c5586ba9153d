import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { settings } from '@tradepost/app';
import { startEmbeddedPostgres } from '@tradepost/embedded-postgres';
import { openTokens } from '@tradepost/identity';
import { openDatabase, type Sql } from '@tradepost/postgres';
import { loadConfig, openLog, openRuntime } from '@tradepost/runtime';
import { defer } from '@tradepost/testing/processes/cleanup';
import { type RunningServer, startProcess } from '@tradepost/testing/processes/process';
import { openDatabaseProxy } from '@tradepost/testing/servers/database-proxy';
import { testKeyFile } from '@tradepost/testing/servers/key-file';
import { startPromotedShoppers } from './promoted-shoppers.ts';
import type { Promotions } from './promotion-checks.ts';
import { audit, check, type Environment, emptyOutcome, type Outcome, type Scenario } from './scenario.ts';
import { type Shoppers, startShoppers } from './shopper-load.ts';
import { type Buyer, makeBuyers, makeGoods, until } from './test-shop.ts';
import type { Target } from './writes.ts';

/** A data folder with a running database that has shoppers and goods. */
export type DataFolder = {
  data: string;
  buyers: Buyer[];
  skuIds: number[];
  /** Coupons and a running flash sale. The first line of the sale has a cap that the load reaches. */
  promotions: Promotions;
  url(): string;
  sql(): Sql;
  postmaster(): number;
  /** Starts the database again after it was killed, or adopts the running one. */
  start(): Promise<void>;
};

const clients = 64;
const saleCap = 5;
const lastCoupons = 10;

/** Starts the shop as a process, which is killed at the end of the run. */
export async function startShop(data: string, env: Record<string, string> = {}): Promise<RunningServer> {
  const server = await startProcess(['--data', data, '--seed', 'none'], env);
  const forget = defer(async () => server.child.kill('SIGKILL'));
  void server.ended.then(forget);
  return server;
}

export async function createDataFolder(stored: Readonly<Record<string, unknown>> = {}): Promise<DataFolder> {
  const data = await mkdtemp(join(tmpdir(), 'tradepost-kills-'));
  // When the test runs as root, the database runs as another account, which must be able to enter the folder.
  await chmod(data, 0o755);
  const directory = join(data, 'postgres');
  let sql: Sql | null = null;
  defer(async () => {
    shared = null;
    await sql?.end({ timeout: 1 });
    await (await startEmbeddedPostgres({ directory })).stop();
    await rm(data, { recursive: true, force: true });
  });
  let postgres = await startEmbeddedPostgres({ directory });
  const { config } = loadConfig({
    env: {},
    flags: { databaseUrl: postgres.url, data, secretsKeyFile: testKeyFile, databasePool: 2 },
  });
  const runtime = await openRuntime({ config, definitions: settings, log: openLog({ level: 'silent' }) });
  await runtime.settings.setMany({ 'pay.instant': true, ...stored });
  const tokens = await openTokens(runtime);
  const buyers = await makeBuyers(runtime.sql, tokens, clients);
  const made = await makeGoods(runtime.sql, { stocks: Array.from({ length: 60 }, () => 1_000_000) });
  const promotions = {
    staff: await tokens.issue({ role: 'admin', id: 1, perms: ['*'] }),
    ...(await makeCoupons(runtime.sql)),
    onSale: await startFlashSale(runtime.sql, made.sku_ids.slice(0, 4)),
  };
  await makeCustomers(runtime.sql, buyers.slice(clients / 2));
  await tokens.close();
  await runtime.close();
  return {
    data,
    buyers,
    skuIds: made.sku_ids,
    promotions,
    url: () => postgres.url,
    sql: () => sql!,
    postmaster: () => Number(readFileSync(join(postgres.dataDirectory, 'postmaster.pid'), 'utf8').split('\n')[0]),
    async start() {
      await sql?.end({ timeout: 1 });
      postgres = await startEmbeddedPostgres({ directory });
      sql = openDatabase(postgres.url, { max: 2, name: 'faults' });
    },
  };
}

/** Starts a flash sale of these SKUs. The first one sells at most `saleCap` pieces. */
async function startFlashSale(sql: Sql, skuIds: readonly number[]) {
  return sql<Promotions['onSale'][number][]>`
    with activity as (
      insert into activities.activities (type, name, start_at, end_at)
      values ('seckill', 'Flash sale', now() - interval '1 minute', now() + interval '1 day') returning id
    )
    insert into activities.activity_products (activity_id, product_id, sku_id, activity_price, total_stock_limit)
    select activity.id, s.product_id, s.id, 100, case when s.id = ${skuIds[0]!} then ${saleCap}::int else 0 end
    from activity, catalog.sku_cards s where s.id = any(${[...skuIds]}::bigint[]) order by s.id
    returning sku_id, id as activity_product_id`;
}

/** Creates a coupon of 1.00 without limits, and one with `lastCoupons` pieces. */
async function makeCoupons(sql: Sql): Promise<Pick<Promotions, 'coupon' | 'lastCoupons'>> {
  const made = await sql<{ id: number }[]>`
    with coupon as (
      insert into marketing.coupons (name, type, discount, total_count, per_limit)
      values ('One off', 3, 100, 0, 0), ('One off for the first', 3, 100, ${lastCoupons}, 1) returning *
    ), version as (
      insert into marketing.coupon_versions (coupon_id, name, type, min_amount, discount, description, stack_rule, total_count, per_limit)
      select id, name, type, min_amount, discount, description, stack_rule, total_count, per_limit from coupon returning id, coupon_id
    )
    select coupon_id as id from version order by coupon_id`;
  await sql`
    update marketing.coupons c set version_id = v.id from marketing.coupon_versions v where v.coupon_id = c.id`;
  return { coupon: made[0]!.id, lastCoupons: { id: made[1]!.id, total: lastCoupons } };
}

/** Makes the first shopper a distributor and the others the customers, so that payments and refunds move commissions. */
async function makeCustomers(sql: Sql, [first, ...others]: readonly Buyer[]): Promise<void> {
  await sql`
    with made as (
      insert into distribution.distributors (user_id, level, status, real_name, phone)
      values (${first!.id}, 1, 'active', 'Ann', '13800000000') returning id
    )
    insert into distribution.bindings (user_id, distributor_id)
    select u, made.id from made, unnest(${others.map(({ id }) => id)}::bigint[]) as u`;
}

let shared: Promise<DataFolder> | null = null;
/** All scenarios share one folder, because creating it takes as long as a short scenario. `cleanUp` removes it. */
export async function openDataFolder(): Promise<DataFolder> {
  shared ??= createDataFolder();
  const folder = await shared;
  // The previous scenario stopped the database together with the shop.
  await folder.start();
  return folder;
}

/** The address of the current server. While no server runs, shoppers wait for it. */
export function openTarget() {
  let current: PromiseWithResolvers<string> = Promise.withResolvers();
  const target: Target = () => current.promise;
  return {
    target,
    up: (url: string) => current.resolve(url),
    down() {
      current = Promise.withResolvers();
    },
  };
}

/** Orders to wait for after a fault, so that many requests are running again. */
const busyOrders = { short: 100, long: 300 } as const;
const untilBusy = (shoppers: Pick<Shoppers, 'confirmed'>, { size }: Environment) => {
  const from = shoppers.confirmed();
  return until('orders under load', () => shoppers.confirmed() >= from + busyOrders[size], 180);
};

async function verify(folder: DataFolder, loads: readonly Shoppers[], outcome: Outcome): Promise<void> {
  await Promise.all(loads.map((load) => load.finish()));
  if (loads.some((load) => load.interrupted() === 0))
    outcome.faults.push('no request was interrupted, so the scenario tested nothing');
  for (const load of loads) await load.verify(folder.sql(), outcome);
  await audit(folder.sql(), outcome);
}

/** The process id of a database connection of the shop. */
async function backendOfShop(sql: Sql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`
    select pid from pg_stat_activity where application_name = 'tradepost' and datname = current_database() limit 1`;
  return row!.pid;
}

async function stop(server: RunningServer, outcome: Outcome): Promise<void> {
  server.child.kill('SIGTERM');
  check(outcome, 'exit code of the shop after SIGTERM', await server.ended, 0);
}

const apiKilled: Scenario = {
  name: 'api-killed',
  about:
    'the API process is killed with -9 while 64 clients order, pay and cancel: half of them in a flash sale, half with coupons and points, which refunds return',
  async run(environment) {
    const outcome = emptyOutcome();
    const folder = await openDataFolder();
    const at = openTarget();
    const start = async () => {
      const server = await startShop(folder.data);
      at.up(server.url);
      return server;
    };
    let server = await start();
    const { buyers, skuIds, promotions } = folder;
    const half = buyers.length / 2;
    const plain = startShoppers(at.target, buyers.slice(0, half), skuIds, promotions);
    const promoted = startPromotedShoppers(at.target, buyers.slice(half), skuIds, promotions);
    const shoppers = { confirmed: () => plain.confirmed() + promoted.confirmed() };
    let unpaid = 0;
    for (const rounds = environment.size === 'long' ? 20 : 3; outcome.rounds < rounds; outcome.rounds += 1) {
      await untilBusy(shoppers, environment);
      at.down();
      server.child.kill('SIGKILL');
      await server.ended;
      unpaid += promoted.unpaid();
      await audit(folder.sql(), outcome);
      server = await start();
      environment.progress(`killed ${outcome.rounds + 1} of ${rounds} times, ${shoppers.confirmed()} orders confirmed`);
    }
    await verify(folder, [plain, promoted], outcome);
    if (plain.refused() === 0)
      outcome.faults.push('the flash sale did not reach its cap, so the scenario tested too little');
    if (unpaid === 0) outcome.faults.push('no order was killed before its payment, so the scenario tested too little');
    await stop(server, outcome);
    return outcome;
  },
};

const postgresKilled: Scenario = {
  name: 'postgres-killed',
  about: 'an external PostgreSQL is killed with -9 or shut down under load, and started again; the shop continues',
  async run(environment) {
    const outcome = emptyOutcome();
    const folder = await openDataFolder();
    // The database restarts on another port. The proxy keeps the address that the shop uses.
    const databaseProxy = await openDatabaseProxy(folder.url());
    const at = openTarget();
    const server = await startShop(folder.data, { DATABASE_URL: databaseProxy.url });
    at.up(server.url);
    const shoppers = startShoppers(at.target, folder.buyers, folder.skuIds);
    for (const rounds = environment.size === 'long' ? 8 : 2; outcome.rounds < rounds; outcome.rounds += 1) {
      await untilBusy(shoppers, environment);
      process.kill(folder.postmaster(), outcome.rounds % 2 ? 'SIGINT' : 'SIGKILL');
      await folder.start();
      databaseProxy.target(folder.url());
      const back = performance.now();
      await until('the shop is ready again by itself', async () => {
        const ready = await fetch(`${server.url}/ready`).catch(() => null);
        await ready?.arrayBuffer();
        return ready?.status === 200;
      });
      const seconds = ((performance.now() - back) / 1000).toFixed(1);
      environment.progress(`restart ${outcome.rounds + 1} of ${rounds}: ready ${seconds} s after the database`);
    }
    await verify(folder, [shoppers], outcome);
    check(outcome, 'the process of the shop', [server.child.exitCode, server.child.signalCode], [null, null]);
    await stop(server, outcome);
    await databaseProxy.close();
    return outcome;
  },
};

/** Calls the shop until it serves again. While its database is away it must answer 503 with Retry-After. */
async function callUntilServed(server: RunningServer, outcome: Outcome): Promise<void> {
  const refused: (string | null)[] = [];
  await until('the shop serves again by itself', async () => {
    const answer = await fetch(`${server.url}/api/v1/products?page_size=1`);
    await answer.arrayBuffer();
    if (answer.status === 503) refused.push(answer.headers.get('retry-after'));
    else if (answer.status !== 200) outcome.faults.push(`answered ${answer.status} while the database was down`);
    return answer.status === 200 && refused.length > 0;
  });
  if (refused.some((seconds) => !(Number(seconds) >= 1))) outcome.faults.push('a 503 without Retry-After');
}

const embeddedKilled: Scenario = {
  name: 'embedded-killed',
  about:
    'the embedded PostgreSQL or one of its backends is killed with -9 under load; the shop restarts it and continues',
  async run(environment) {
    const outcome = emptyOutcome();
    const folder = await openDataFolder();
    const at = openTarget();
    const server = await startShop(folder.data);
    at.up(server.url);
    const shoppers = startShoppers(at.target, folder.buyers, folder.skuIds);
    for (const rounds = environment.size === 'long' ? 12 : 2; outcome.rounds < rounds; outcome.rounds += 1) {
      await untilBusy(shoppers, environment);
      const postmaster = folder.postmaster();
      const killed = outcome.rounds % 2 ? await backendOfShop(folder.sql()) : postmaster;
      process.kill(killed, 'SIGKILL');
      const back = performance.now();
      if (killed === postmaster) await callUntilServed(server, outcome);
      else await untilBusy(shoppers, environment);
      const seconds = ((performance.now() - back) / 1000).toFixed(1);
      await folder.start();
      environment.progress(`killed ${outcome.rounds + 1} of ${rounds} times, served again after ${seconds} s`);
      // The shop gives up after more than three restarts of the database within a minute.
      if (environment.size === 'long') await sleep(16_000);
    }
    await verify(folder, [shoppers], outcome);
    check(outcome, 'the process of the shop', [server.child.exitCode, server.child.signalCode], [null, null]);
    await stop(server, outcome);
    return outcome;
  },
};

export const kills: readonly Scenario[] = [apiKilled, postgresKilled, embeddedKilled];
