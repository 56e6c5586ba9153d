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
import { audit, check, type Environment, emptyOutcome, type Outcome, type Scenario } from './scenario.ts';
import { type Shoppers, startShoppers, type Target } from './shopper-load.ts';
import { type Buyer, makeBuyers, makeGoods, until } from './test-shop.ts';

/** A data folder with a running database that has shoppers and goods. */
export type DataFolder = {
  data: string;
  buyers: Buyer[];
  skuIds: number[];
  url(): string;
  sql(): Sql;
  postmaster(): number;
  /** Starts the database again after it was killed, or adopts the running one. */
  start(): Promise<void>;
};

const clients = 64;

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
  await tokens.close();
  await runtime.close();
  return {
    data,
    buyers,
    skuIds: made.sku_ids,
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
const untilBusy = (shoppers: Shoppers, { size }: Environment) => {
  const from = shoppers.confirmed();
  return until('orders under load', () => shoppers.confirmed() >= from + busyOrders[size], 60);
};

async function verify(folder: DataFolder, shoppers: Shoppers, outcome: Outcome): Promise<void> {
  await shoppers.finish();
  if (shoppers.interrupted() === 0) outcome.faults.push('no request was interrupted, so the scenario tested nothing');
  await shoppers.verify(folder.sql(), outcome);
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
  about: 'the API process is killed with -9 while 64 clients order, pay and cancel',
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
    const shoppers = startShoppers(at.target, folder.buyers, folder.skuIds);
    for (const rounds = environment.size === 'long' ? 20 : 3; outcome.rounds < rounds; outcome.rounds += 1) {
      await untilBusy(shoppers, environment);
      at.down();
      server.child.kill('SIGKILL');
      await server.ended;
      await audit(folder.sql(), outcome);
      server = await start();
      environment.progress(`killed ${outcome.rounds + 1} of ${rounds} times, ${shoppers.confirmed()} orders confirmed`);
    }
    await verify(folder, shoppers, outcome);
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
    await verify(folder, shoppers, outcome);
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
    await verify(folder, shoppers, outcome);
    check(outcome, 'the process of the shop', [server.child.exitCode, server.child.signalCode], [null, null]);
    await stop(server, outcome);
    return outcome;
  },
};

export const kills: readonly Scenario[] = [apiKilled, postgresKilled, embeddedKilled];
