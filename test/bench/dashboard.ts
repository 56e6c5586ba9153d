import { setTimeout as sleep } from 'node:timers/promises';
import { seedScale } from '@tradepost/app';
import type { BenchOptions } from './alternating-runs.ts';
import { newHistogram } from './histogram.ts';
import { progress, type Row, type Section } from './report.ts';
import { seedBuyers, seedSkus } from './seed.ts';
import { type Cluster, startShop, temporaryFolder } from './server.ts';

const requests = 300;
const limitMs = 50;
/** Orders that arrive per second while the pages are measured. */
const arrivals = 20;

const periods = [1, 7, 30, 90];
const endpoints: readonly string[] = [
  '/admin/api/dashboard',
  '/admin/api/dashboard?range=7d',
  ...['sales', 'products', 'customers', 'traffic', 'conversion'].flatMap((name) =>
    periods.map((days) => `/admin/api/analytics/${name}?days=${days}`),
  ),
];
/** The route to compare with: it reads one row of settings and no orders. */
const bare = '/ready';

async function measure(url: string, token: string, path: string) {
  const histogram = newHistogram();
  for (let n = 0; n < requests; n += 1) {
    const began = performance.now();
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
    const text = await answer.text();
    if (answer.status !== 200 || (path !== bare && !text.startsWith('{"code":0')))
      throw new Error(`${path}: ${text.slice(0, 200)}`);
    // The first requests open connections and fill caches.
    if (n >= 20) histogram.record(Math.round((performance.now() - began) * 1000));
  }
  return { p50: histogram.quantile(0.5), p99: histogram.quantile(0.99) };
}

/** Places and pays orders at a fixed rate until it is stopped. */
async function startArrivals(cluster: Cluster, url: string) {
  const buyers = await seedBuyers(cluster.sql, cluster.tokens, 50);
  const skus = await seedSkus(cluster.sql, 20, 1_000_000);
  let [isRunning, placed] = [true, 0];
  const send = async (token: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    const { code, message, data } = (await answer.json()) as { code: number; message: string; data: { id: number } };
    if (code !== 0) throw new Error(`${path}: ${message}`);
    return data;
  };
  const work = (async () => {
    for (let n = 0; isRunning; n += 1) {
      const { token, address_id } = buyers[n % buyers.length]!;
      const items = [{ sku_id: skus[n % skus.length]! }];
      const { id } = await send(token, '/api/v1/orders', { address_id, items });
      await send(token, `/api/v1/orders/${id}/pay`, {});
      placed += 1;
      await sleep(1000 / arrivals);
    }
  })();
  return async () => {
    isRunning = false;
    await work;
    return placed;
  };
}

/** Waits until the job has counted all past days, as it does in the first minute of a shop. */
async function waitForRollUp({ sql }: Cluster): Promise<number> {
  const began = performance.now();
  for (;;) {
    const [row] = await sql<{ n: number }[]>`select count(*)::int as n from analytics.windows`;
    if (row!.n > 0) return (performance.now() - began) / 1000;
    if (performance.now() - began > 180_000) throw new Error('the roll-up was not made within three minutes');
    await sleep(500);
  }
}

/** Measures the dashboard and all reports of a shop with many orders, while orders arrive. */
export async function dashboard(cluster: Cluster, { orders }: BenchOptions): Promise<Section[]> {
  await seedScale(
    cluster.sql,
    { orders, shoppers: Math.ceil(orders / 20), products: Math.ceil(orders / 200) },
    progress,
  );
  const folder = await temporaryFolder();
  const server = await startShop({ data: folder.path, databaseUrl: cluster.url });
  const token = await cluster.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  const waited = await waitForRollUp(cluster);
  progress(`the roll-up was there after ${waited.toFixed(0)} s`);
  const stop = await startArrivals(cluster, server.url);
  const base = await measure(server.url, token, bare);
  const rows: Row[] = [{ endpoint: bare, 'p50 ms': base.p50, 'p99 ms': base.p99, ratio: 1 }];
  for (const endpoint of endpoints) {
    const { p50, p99 } = await measure(server.url, token, endpoint);
    progress(`${endpoint}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
    rows.push({ endpoint, 'p50 ms': p50, 'p99 ms': p99, ratio: p50 / base.p50 });
  }
  const placed = await stop();
  await server.stop();
  await folder.remove();
  const slow = rows.filter((row) => (row['p99 ms'] as number) > limitMs).map((row) => row.endpoint);
  return [
    {
      title: `${orders.toLocaleString('en')} orders of a year, one client, ${requests} requests each`,
      rows,
      notes: [
        slow.length > 0 ? `p99 over ${limitMs} ms: ${slow.join(', ')}` : `p99 of all under ${limitMs} ms`,
        `${placed.toLocaleString('en')} orders were placed and paid meanwhile; roll-up of the year after ${waited.toFixed(0)} s`,
        `ratio: to ${bare}, which runs select 1`,
      ],
    },
  ];
}
