import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '@tradepost/postgres';
import { keptConnections } from '@tradepost/runtime';
import { runCommand } from '@tradepost/testing/processes/process';
import { testKeyFile } from '@tradepost/testing/servers/key-file';
import { openReceiver, type Receiver } from '../../packages/webhooks/testing/receiver.ts';
import { type BenchOptions, connections, shoppers, stockOfEach } from './alternating-runs.ts';
import { startBackgroundProcess } from './background-process.ts';
import { mustSucceed } from './load.ts';
import { mean, progress, type Row, type Section } from './report.ts';
import { resetOrders, seedBuyers, seedSkus } from './seed.ts';
import { type Cluster, measure, startShop, temporaryFolder } from './server.ts';

const latencyMs = 20;
/** The default of `webhooks.concurrency`. */
const concurrency = 8;
const backlog = 2_000;
const allowed = { ALLOWED_PRIVATE_NETWORKS: '127.0.0.1', TRADEPOST_SECRETS_KEY_FILE: testKeyFile };

const slowReceiver = (): Promise<Receiver> =>
  openReceiver((_, response) => setTimeout(() => response.writeHead(204).end(), latencyMs));

async function addEndpoint(cluster: Cluster, data: string, url: string): Promise<void> {
  const env = { ...allowed, DATABASE_URL: cluster.url, TRADEPOST_DATA: data };
  const { code, stderr } = await runCommand(['webhooks', 'add', url], { env });
  if (code !== 0) throw new Error(`webhooks add: ${stderr}`);
}

const removeEndpoints = async (sql: Sql): Promise<void> => {
  await sql`truncate webhooks.endpoints, webhooks.deliveries, webhooks.attempts`;
};

/** Requests/s of a bare client with the same connections. */
async function measureBare(receiver: Receiver): Promise<number> {
  const { origin, pathname } = new URL(receiver.url);
  const { pool } = keptConnections(origin, { connections: concurrency, connectMs: 5_000, keepAliveMs: 30_000 });
  const body = JSON.stringify({ id: 'evt_1', type: 'order.paid', data: { order_id: 1 } });
  let left = backlog;
  const begun = performance.now();
  const client = async () => {
    while (left > 0) {
      left -= 1;
      const answer = await pool.request({ method: 'POST', path: pathname, body });
      await answer.body.dump();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, client));
  const seconds = (performance.now() - begun) / 1_000;
  await pool.destroy();
  return backlog / seconds;
}

/** Deliveries/s of a worker with a backlog, without the first tenth: the start of the process. */
async function measureWorker(cluster: Cluster, receiver: Receiver): Promise<number> {
  const { sql } = cluster;
  const folder = await temporaryFolder();
  await removeEndpoints(sql);
  await addEndpoint(cluster, folder.path, receiver.url);
  await sql`
    insert into webhooks.deliveries (endpoint_id, event_id, kind, subject, body, ready, due_at, occurred_at)
    select e.id, n, 'order.paid', 'order:' || n, json_build_object('id', 'evt_' || n, 'type', 'order.paid', 'data', '{}'::json)::text,
           true, now(), now()
    from webhooks.endpoints e, generate_series(1, ${backlog}) n`;
  const before = receiver.requests.length;
  const env = { ...allowed, DATABASE_URL: cluster.url, TRADEPOST_DATA: folder.path, TRADEPOST_SEED: 'none' };
  const stop = startBackgroundProcess(['bin/tradepost.ts', 'start', '--only', 'worker'], env);
  const arrived = async (count: number) => {
    const begun = performance.now();
    while (receiver.requests.length - before < count) {
      if (performance.now() - begun > 120_000) throw new Error(`${receiver.requests.length - before} webhooks arrived`);
      await sleep(5);
    }
    return performance.now();
  };
  const from = await arrived(backlog / 10);
  const to = await arrived(backlog);
  await stop();
  await folder.remove();
  return (backlog * 0.9) / ((to - from) / 1_000);
}

async function deliveries(cluster: Cluster): Promise<Section> {
  const receiver = await slowReceiver();
  const rows: Row[] = [];
  for (let turn = 0; turn < 2; turn += 1) {
    const bare = await measureBare(receiver);
    const worker = await measureWorker(cluster, receiver);
    progress(`webhooks: ${Math.round(worker)}/s, a bare client ${Math.round(bare)}/s`);
    rows.push({ turn: turn + 1, 'deliveries/s': worker, 'bare client/s': bare, ratio: worker / bare });
  }
  await receiver.close();
  await removeEndpoints(cluster.sql);
  return { title: `one endpoint that answers after ${latencyMs} ms, ${concurrency} requests at once`, rows };
}

async function purchases(cluster: Cluster, options: BenchOptions): Promise<Section> {
  const { sql, tokens } = cluster;
  const data = { buyers: await seedBuyers(sql, tokens, shoppers), skus: await seedSkus(sql, 500, stockOfEach) };
  const receivers = await Promise.all([slowReceiver(), slowReceiver(), slowReceiver()]);
  const results = new Map<number, number[]>([
    [0, []],
    [3, []],
  ]);
  const rows: Row[] = [];
  for (const endpoints of [0, 3, 0, 3]) {
    await resetOrders(sql, stockOfEach);
    await sql`truncate runtime.outbox`;
    await removeEndpoints(sql);
    const folder = await temporaryFolder();
    for (const { url } of receivers.slice(0, endpoints)) await addEndpoint(cluster, folder.path, url);
    const env = { ...allowed, TRADEPOST_ONLY: 'api,worker' };
    const server = await startShop({ env, data: folder.path, databaseUrl: cluster.url });
    const job = { scenario: 'purchases' as const, data, connections, warmupSeconds: 2, seconds: options.seconds };
    const result = await measure(server, cluster, job);
    await server.stop();
    await folder.remove();
    mustSucceed(result, 'purchases');
    const [row] = await sql<
      { n: number }[]
    >`select count(*)::int as n from webhooks.deliveries where status = 'delivered'`;
    progress(`${endpoints} endpoints: ${Math.round(result.perSecond)} purchases/s, ${row!.n} webhooks delivered`);
    results.get(endpoints)!.push(result.perSecond);
    rows.push({ endpoints, 'purchases/s': result.perSecond, 'p99 ms': result.p99, delivered: row!.n });
  }
  for (const receiver of receivers) await receiver.close();
  const ratio = mean(results.get(3)!) / mean(results.get(0)!);
  return {
    title: 'purchases with three endpoints, API and worker in one process',
    rows: [...rows, { endpoints: 'ratio', 'purchases/s': ratio }],
  };
}

/** Measures deliveries against a bare client, and purchases with and without endpoints. */
export const webhooks = async (cluster: Cluster, options: BenchOptions): Promise<Section[]> => [
  await deliveries(cluster),
  await purchases(cluster, options),
];
