import { join } from 'node:path';
import { type BenchOptions, connections } from './alternating-runs.ts';
import { type LoadResult, mustSucceed, runLoad } from './load.ts';
import { mean, progress, type Row, type Section } from './report.ts';
import { seedBuyers, seedSkus } from './seed.ts';
import {
  type Cluster,
  freePort,
  measure,
  type Process,
  startProcess,
  startShop,
  statementsOf,
  temporaryFolder,
} from './server.ts';
import { cpuSeconds } from './usage.ts';

const targets = ['bare uWebSockets.js', 'our router on uWebSockets.js', 'our router on node:http'] as const;
const rounds = 3;

async function startTargets(cluster: Cluster): Promise<Process[]> {
  const started: Process[] = [];
  for (const kind of ['bare', 'uws', 'node']) {
    const port = await freePort();
    const env: Record<string, string> = { PORT: String(port), DATABASE_URL: cluster.url, DATABASE_POOL: '2' };
    if (kind !== 'bare') env.TRANSPORT = kind;
    const script = join(import.meta.dirname, 'http-target.ts');
    started.push(await startProcess([script, kind], { port, env, path: '/ok' }));
  }
  return started;
}

/** Compare CPU time of the server per request. Requests per second can be limited by the generator on the same machine. */
async function transports(cluster: Cluster, seconds: number): Promise<Section> {
  const servers = await startTargets(cluster);
  const turns = servers.map((): { result: LoadResult; cpu: number | null }[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [index, server] of servers.entries()) {
      const job = {
        scenario: 'reads',
        data: { paths: ['/ok'] },
        port: server.port,
        connections,
        warmupSeconds: 1,
        seconds,
      } as const;
      const cpuAt: Record<string, number | null> = {};
      const result = await runLoad(job, (edge) => {
        cpuAt[edge] = cpuSeconds(server.pid);
      });
      mustSucceed(result, 'reads');
      const known = cpuAt.begin != null && cpuAt.end != null;
      turns[index]!.push({ result, cpu: known ? ((cpuAt.end! - cpuAt.begin!) / result.units) * 1e6 : null });
      progress(`${targets[index]}: ${Math.round(result.perSecond)}/s`);
    }
  for (const server of servers) await server.stop();
  const means = turns.map((all) => ({
    perSecond: mean(all.map((turn) => turn.result.perSecond)),
    p50: mean(all.map((turn) => turn.result.p50)),
    p99: mean(all.map((turn) => turn.result.p99)),
    cpu: all.some((turn) => turn.cpu === null) ? null : mean(all.map((turn) => turn.cpu!)),
    load: mean(all.map((turn) => turn.result.cpuSeconds / turn.result.seconds)),
  }));
  const rows = means.map(
    (m, index): Row => ({
      target: targets[index]!,
      'requests/s': m.perSecond,
      'of bare': m.perSecond / means[0]!.perSecond,
      'p50 ms': m.p50,
      'p99 ms': m.p99,
      'server CPU us': m.cpu,
      'of bare ': m.cpu && means[0]!.cpu ? m.cpu / means[0]!.cpu : null,
      'load cores': m.load,
    }),
  );
  return { title: `one trivial GET, ${connections} connections, mean of ${rounds} runs`, rows };
}

type Read = { name: string; path: string; token?: string };

/**
 * Sends a request alone, three times. Returns its fewest statements and the rows of its list: the first request also reads what is
 * then kept in memory, and polls of the server are counted too.
 */
async function askAlone(server: Process, { path, token }: Read) {
  const headers = token ? { authorization: `Bearer ${token}` } : undefined;
  let statements = Number.POSITIVE_INFINITY;
  let rows: number | null = null;
  for (let asked = 0; asked < 3; asked++) {
    const before = await statementsOf(server);
    const response = await fetch(server.url + path, headers ? { headers } : {});
    const answer = (await response.json()) as { code: number; data: { list?: unknown[] } };
    if (answer.code !== 0) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    statements = Math.min(statements, (await statementsOf(server)) - before);
    rows = answer.data.list?.length ?? null;
  }
  return { statements, rows };
}

async function placeOrders(
  server: Process,
  buyer: { token: string; address_id: number },
  skus: number[],
  { count, pay }: { count: number; pay: boolean },
) {
  const headers = { authorization: `Bearer ${buyer.token}`, 'content-type': 'application/json' };
  const ids: number[] = [];
  for (let i = 0; i < count; i++) {
    const items = [skus[i * 2]!, skus[i * 2 + 1]!].map((sku_id) => ({ sku_id }));
    const body = JSON.stringify({ address_id: buyer.address_id, items });
    const answer = await (await fetch(`${server.url}/api/v1/orders`, { method: 'POST', headers, body })).json();
    const { id } = (answer as { data: { id: number } }).data;
    if (pay) await fetch(`${server.url}/api/v1/orders/${id}/pay`, { method: 'POST', headers });
    ids.push(id);
  }
  return ids;
}

async function realReads(cluster: Cluster, { seconds }: BenchOptions): Promise<Section> {
  const folder = await temporaryFolder();
  const skus = await seedSkus(cluster.sql, 300, 1_000);
  const [buyer, payer] = await seedBuyers(cluster.sql, cluster.tokens, 2);
  const server = await startShop({ data: folder.path, databaseUrl: cluster.url });
  const [id] = await placeOrders(server, buyer!, skus, { count: 30, pay: false });
  const [paidId] = await placeOrders(server, payer!, skus, { count: 30, pay: true });
  await cluster.sql`vacuum analyze`;
  const { token } = buyer!;
  const paid = payer!.token;
  const reads: Read[] = [
    { name: 'product list, 20 of 300', path: '/api/v1/products?page=1&size=20' },
    { name: 'product list, 50 of 300', path: '/api/v1/products?page=1&size=50' },
    { name: 'product detail', path: '/api/v1/products/1' },
    { name: 'order list, 5 of 30', path: '/api/v1/orders?page=1&size=5', token },
    { name: 'order list, 20 of 30', path: '/api/v1/orders?page=1&size=20', token },
    { name: 'order detail', path: `/api/v1/orders/${id}`, token },
    { name: 'paid orders, 5 of 30', path: '/api/v1/orders?page=1&size=5', token: paid },
    { name: 'paid orders, 20 of 30', path: '/api/v1/orders?page=1&size=20', token: paid },
    { name: 'paid order detail', path: `/api/v1/orders/${paidId}`, token: paid },
  ];
  const rows: Row[] = [];
  for (const read of reads) {
    const { statements, rows: listed } = await askAlone(server, read);
    const data = { paths: [read.path], ...(read.token ? { token: read.token } : {}) };
    const result = await measure(server, cluster, { scenario: 'reads', data, connections, warmupSeconds: 1, seconds });
    mustSucceed(result, 'reads');
    progress(`${read.name}: ${Math.round(result.perSecond)}/s`);
    rows.push({
      read: read.name,
      rows: listed,
      'requests/s': result.perSecond,
      'p50 ms': result.p50,
      'p99 ms': result.p99,
      'SQL/request': statements,
      'API CPU us': result.apiCpu,
      'PostgreSQL CPU us': result.postgresCpu,
    });
  }
  await server.stop();
  await folder.remove();
  for (const [one, other] of [
    [0, 1],
    [3, 4],
    [6, 7],
  ] as const)
    if (rows[one]!['SQL/request'] !== rows[other]!['SQL/request'] || rows[one]!.rows === rows[other]!.rows)
      throw new Error(`${rows[one]!.read}: the number of statements depends on the page size`);
  return {
    title: `reads of the real server, ${connections} connections`,
    rows,
    notes: ['SQL statements per request are the same for both page sizes'],
  };
}

export async function http(cluster: Cluster, options: BenchOptions): Promise<Section[]> {
  return [await transports(cluster, options.seconds), await realReads(cluster, options)];
}
