import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { settings } from '@tradepost/app';
import { openTokens } from '@tradepost/identity';
import { openDatabase, type Sql } from '@tradepost/postgres';
import { loadConfig, openLog, openRuntime } from '@tradepost/runtime';
import { defer } from '@tradepost/testing/processes/cleanup';
import { freePorts } from '@tradepost/testing/processes/free-ports';
import { type RunningServer, startProcess } from '@tradepost/testing/processes/process';
import { testKeyFile } from '@tradepost/testing/servers/key-file';
import { hasProxy, startProxy } from '../deployment/proxy-process.ts';
import { startSimpleProxy } from '../deployment/simple-proxy.ts';
import { audit, check, emptyOutcome, type Scenario, withoutWorker } from './scenario.ts';
import { startShoppers } from './shopper-load.ts';
import { type Buyer, cloneTemplate, makeBuyers, makeGoods } from './test-shop.ts';

const shoppers = 16;
const readers = 8;
const pauseMs = 15;
const drainSeconds = 1;

type Prepared = { sql: Sql; url: string; data: string; buyers: Buyer[]; skuIds: number[]; close(): Promise<void> };

async function prepare(clusterUrl: string): Promise<Prepared> {
  const database = await cloneTemplate(clusterUrl);
  const data = await mkdtemp(join(tmpdir(), 'tradepost-rolling-'));
  const flags = { databaseUrl: database.url, data, secretsKeyFile: testKeyFile, databasePool: 2 };
  const { config } = loadConfig({ env: {}, flags });
  const runtime = await openRuntime({ config, definitions: settings, log: openLog({ level: 'silent' }) });
  await runtime.settings.setMany({ 'pay.instant': true });
  const tokens = await openTokens(runtime);
  const buyers = await makeBuyers(runtime.sql, tokens, shoppers);
  const { sku_ids: skuIds } = await makeGoods(runtime.sql, { stocks: Array.from({ length: 40 }, () => 1_000_000) });
  await tokens.close();
  await runtime.close();
  const sql = openDatabase(database.url, { max: 2, name: 'faults' });
  const close = defer(async () => {
    await sql.end({ timeout: 1 });
    await database.drop();
    await rm(data, { recursive: true, force: true });
  });
  return { sql, url: database.url, data, buyers, skuIds, close };
}

/** Starts an API process on a port. It drains as the units of `tradepost service print` let it. */
async function startApi({ url, data }: Prepared, port: number): Promise<RunningServer> {
  const server = await startProcess(['--only', 'api', '--port', String(port)], {
    ...{ DATABASE_URL: url, TRADEPOST_DATA: data, DRAIN_SECONDS: String(drainSeconds), TRUSTED_PROXIES: '127.0.0.1' },
  });
  const forget = defer(async () => server.child.kill('SIGKILL'));
  void server.ended.then(forget);
  return server;
}

/** Clients that read, without repeating anything. */
function startReaders(url: string) {
  const failed: string[] = [];
  let answered = 0;
  let ending = false;
  const paths = ['/api/v1/products?page_size=5', '/api/v1/categories', '/health'];
  const read = async (index: number): Promise<void> => {
    for (let round = index; !ending; round += 1) {
      const path = paths[round % paths.length]!;
      const outcome = await fetch(url + path).then(
        async (answer) => ((await answer.text()) && answer.ok ? null : `HTTP ${answer.status}`),
        (error: Error) => String(error.cause ?? error),
      );
      if (outcome === null) answered += 1;
      else failed.push(`${path}: ${outcome}`);
      await sleep(pauseMs);
    }
  };
  const reading = Promise.all(Array.from({ length: readers }, (_, index) => read(index)));
  return {
    failed,
    answered: () => answered,
    async finish() {
      ending = true;
      await reading;
    },
  };
}

type Setting = {
  name: string;
  about: string;
  openProxy: (ports: readonly [number, number]) => Promise<{ port: number; output?(): string; close(): Promise<void> }>;
};

/** What the proxy wrote beside refused connections, which are expected. At most 20 lines. */
const unexpectedLines = (output: string): string[] =>
  output
    .split('\n')
    .filter((line) => line !== '' && !line.includes('Connection refused'))
    .slice(-20);

/** The proxy does not know that a process is going to stop: it sees refused connections. */
const rollingRestart = ({ name, about, openProxy }: Setting): Scenario => ({
  name,
  about: `two API processes behind ${about} are restarted with SIGTERM in turn while clients order, pay, cancel and read: no request fails`,
  async run(environment) {
    const outcome = emptyOutcome();
    const prepared = await prepare(environment.clusterUrl);
    const ports = [await freePorts(), await freePorts()] as const;
    const servers = await Promise.all(ports.map((port) => startApi(prepared, port)));
    const proxy = await openProxy(ports);
    const closeProxy = defer(() => proxy.close());
    const url = `http://127.0.0.1:${proxy.port}`;
    const reading = startReaders(url);
    const wrong: string[] = [];
    let stopping = performance.now();
    const shopping = startShoppers(async () => url, prepared.buyers, prepared.skuIds, {
      pauseMs,
      onAnswer: (verb, answer) => {
        if (!answer || answer.status >= 500)
          wrong.push(
            `${verb}: ${answer ? `HTTP ${answer.status} ${answer.text}` : 'no answer'}, ${Math.round(performance.now() - stopping)} ms after SIGTERM`,
          );
      },
    });
    await sleep(1_000);
    for (const rounds = environment.size === 'long' ? 12 : 2; outcome.rounds < rounds; outcome.rounds += 1) {
      const index = outcome.rounds % 2;
      const before = shopping.confirmed();
      stopping = performance.now();
      servers[index]!.child.kill('SIGTERM');
      check(outcome, 'exit code after SIGTERM', await servers[index]!.ended, 0);
      const seconds = ((performance.now() - stopping) / 1000).toFixed(1);
      servers[index] = await startApi(prepared, ports[index]!);
      // The next stop finds a proxy that uses this process again.
      await sleep(500);
      const ordered = shopping.confirmed() - before;
      environment.progress(`stopped in ${seconds} s, ${ordered} orders until it served again`);
      if (ordered < 20)
        outcome.faults.push(`only ${ordered} orders during a restart, so the scenario tested too little`);
    }
    await Promise.all([shopping.finish(), reading.finish()]);
    check(outcome, 'failed reads', reading.failed, []);
    check(outcome, 'failed writes', wrong, []);
    check(outcome, 'interrupted writes', shopping.interrupted(), 0);
    if (outcome.faults.length > 0) outcome.faults.push(...unexpectedLines(proxy.output?.() ?? ''));
    await shopping.verify(prepared.sql, outcome);
    outcome.requests += reading.answered();
    await audit(prepared.sql, outcome, withoutWorker);
    await closeProxy();
    for (const { child, ended } of servers) {
      child.kill('SIGTERM');
      check(outcome, 'exit code at the end', await ended, 0);
    }
    await prepared.close();
    return outcome;
  },
});

export const rollingRestarts: readonly Scenario[] = [
  rollingRestart({
    name: 'rolling-restart',
    about: hasProxy('nginx') ? 'nginx' : 'a proxy',
    openProxy: (ports) => (hasProxy('nginx') ? startProxy('nginx', { api: ports }) : startSimpleProxy(ports)),
  }),
  rollingRestart({
    name: 'rolling-restart-far',
    about: 'a proxy 5 ms away',
    openProxy: (ports) => startSimpleProxy(ports, 5),
  }),
];
