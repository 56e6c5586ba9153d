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
import { openWire } from '@tradepost/testing/servers/database-proxy';
import { audit, check, type Ground, nothingYet, type Outcome, type Scenario } from './scenario.ts';
import { type Crowd, openCrowd, type Target } from './shoppers.ts';
import { type Buyer, makeBuyers, makeGoods, until } from './stage.ts';

/** A data folder with its database running, and shoppers and goods in it. */
export type Shelf = {
  data: string;
  buyers: Buyer[];
  skuIds: number[];
  url(): string;
  sql(): Sql;
  postmaster(): number;
  /** Starts the database again after it was killed, or takes over the one that runs. */
  start(): Promise<void>;
};

const clients = 64;

/** The shop as a process of its own, which does not outlive the run. */
async function startShop(data: string, env: Record<string, string> = {}): Promise<RunningServer> {
  const server = await startProcess(['--data', data, '--seed', 'none'], env);
  const forget = defer(async () => server.child.kill('SIGKILL'));
  void server.ended.then(forget);
  return server;
}

export async function makeShelf(stored: Readonly<Record<string, unknown>> = {}): Promise<Shelf> {
  const data = await mkdtemp(join(tmpdir(), 'tradepost-kills-'));
  // Run as root, the database has an account of its own that must get in.
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
  const { config } = loadConfig({ env: {}, flags: { databaseUrl: postgres.url, data, databasePool: 2 } });
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

let shared: Promise<Shelf> | null = null;
/** One for all scenarios: making it takes as long as a short one of them. Gone with `cleanUp`. */
async function openShelf(): Promise<Shelf> {
  shared ??= makeShelf();
  const shelf = await shared;
  // Whoever used it last has taken the database down with the shop.
  await shelf.start();
  return shelf;
}

/** The address of the server of the moment; while it is away, shoppers wait here. */
export function openTarget() {
  let there: PromiseWithResolvers<string> = Promise.withResolvers();
  const target: Target = () => there.promise;
  return {
    target,
    up: (url: string) => there.resolve(url),
    down() {
      there = Promise.withResolvers();
    },
  };
}

/** Enough orders since the last fault that many are under way again. */
const load = { short: 100, long: 300 } as const;
const untilBusy = (crowd: Crowd, { size }: Ground) => {
  const from = crowd.confirmed();
  return until('orders under load', () => crowd.confirmed() >= from + load[size], 60);
};

async function settle(shelf: Shelf, crowd: Crowd, outcome: Outcome): Promise<void> {
  await crowd.finish();
  if (crowd.interrupted() === 0) outcome.faults.push('no request was cut off: nothing has been shown');
  await crowd.verify(shelf.sql(), outcome);
  await audit(shelf.sql(), outcome);
}

/** A backend that works for the shop. */
async function someBackend(sql: Sql): Promise<number> {
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
  about: 'kill -9 of the API process while 64 clients order, pay and cancel',
  async run(ground) {
    const outcome = nothingYet();
    const shelf = await openShelf();
    const at = openTarget();
    const start = async () => {
      const server = await startShop(shelf.data);
      at.up(server.url);
      return server;
    };
    let server = await start();
    const crowd = openCrowd(at.target, shelf.buyers, shelf.skuIds);
    for (const rounds = ground.size === 'long' ? 20 : 3; outcome.rounds < rounds; outcome.rounds += 1) {
      await untilBusy(crowd, ground);
      at.down();
      server.child.kill('SIGKILL');
      await server.ended;
      await audit(shelf.sql(), outcome);
      server = await start();
      ground.progress(`killed ${outcome.rounds + 1} of ${rounds} times, ${crowd.confirmed()} orders confirmed`);
    }
    await settle(shelf, crowd, outcome);
    await stop(server, outcome);
    return outcome;
  },
};

const postgresKilled: Scenario = {
  name: 'postgres-killed',
  about: 'PostgreSQL beside the shop killed -9 or shut down under load, and started again; the shop lives on',
  async run(ground) {
    const outcome = nothingYet();
    const shelf = await openShelf();
    // The database comes back on another port: the shop keeps its address, as behind a proxy.
    const wire = await openWire(shelf.url());
    const at = openTarget();
    const server = await startShop(shelf.data, { DATABASE_URL: wire.url });
    at.up(server.url);
    const crowd = openCrowd(at.target, shelf.buyers, shelf.skuIds);
    for (const rounds = ground.size === 'long' ? 8 : 2; outcome.rounds < rounds; outcome.rounds += 1) {
      await untilBusy(crowd, ground);
      process.kill(shelf.postmaster(), outcome.rounds % 2 ? 'SIGINT' : 'SIGKILL');
      await shelf.start();
      wire.target(shelf.url());
      const back = performance.now();
      await until('the shop is ready again by itself', async () => {
        const ready = await fetch(`${server.url}/ready`).catch(() => null);
        await ready?.arrayBuffer();
        return ready?.status === 200;
      });
      const seconds = ((performance.now() - back) / 1000).toFixed(1);
      ground.progress(`restart ${outcome.rounds + 1} of ${rounds}: ready ${seconds} s after the database`);
    }
    await settle(shelf, crowd, outcome);
    check(outcome, 'the process of the shop', [server.child.exitCode, server.child.signalCode], [null, null]);
    await stop(server, outcome);
    await wire.close();
    return outcome;
  },
};

/** What the shop says while its database is away: the status, and after how many seconds to come again. */
async function askUntilBack(server: RunningServer, outcome: Outcome): Promise<void> {
  const refused: (string | null)[] = [];
  await until('the shop serves again by itself', async () => {
    const answer = await fetch(`${server.url}/api/v1/products?page_size=1`);
    await answer.arrayBuffer();
    if (answer.status === 503) refused.push(answer.headers.get('retry-after'));
    else if (answer.status !== 200) outcome.faults.push(`answered ${answer.status} while the database was away`);
    return answer.status === 200 && refused.length > 0;
  });
  if (refused.some((seconds) => !(Number(seconds) >= 1))) outcome.faults.push('a 503 without Retry-After');
}

const embeddedKilled: Scenario = {
  name: 'embedded-killed',
  about: 'the embedded PostgreSQL or one of its backends killed -9 under load; the shop starts it again and lives on',
  async run(ground) {
    const outcome = nothingYet();
    const shelf = await openShelf();
    const at = openTarget();
    const server = await startShop(shelf.data);
    at.up(server.url);
    const crowd = openCrowd(at.target, shelf.buyers, shelf.skuIds);
    for (const rounds = ground.size === 'long' ? 12 : 2; outcome.rounds < rounds; outcome.rounds += 1) {
      await untilBusy(crowd, ground);
      const postmaster = shelf.postmaster();
      const killed = outcome.rounds % 2 ? await someBackend(shelf.sql()) : postmaster;
      process.kill(killed, 'SIGKILL');
      const back = performance.now();
      if (killed === postmaster) await askUntilBack(server, outcome);
      else await untilBusy(crowd, ground);
      const seconds = ((performance.now() - back) / 1000).toFixed(1);
      await shelf.start();
      ground.progress(`killed ${outcome.rounds + 1} of ${rounds} times, served again after ${seconds} s`);
      // More than three ends of the server in a minute are one too many.
      if (ground.size === 'long') await sleep(16_000);
    }
    await settle(shelf, crowd, outcome);
    check(outcome, 'the process of the shop', [server.child.exitCode, server.child.signalCode], [null, null]);
    await stop(server, outcome);
    return outcome;
  },
};

export const kills: readonly Scenario[] = [apiKilled, postgresKilled, embeddedKilled];
