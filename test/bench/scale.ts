import { seedScale } from '@tradepost/app';
import type { BenchOptions } from './alternating-runs.ts';
import { newHistogram } from './histogram.ts';
import { progress, type Row, type Section } from './report.ts';
import { type Cluster, startShop, temporaryFolder } from './server.ts';

const requests = 400;
/** One client, so the latency is that of a single user. Four clients on two cores would wait for each other. */
const connections = 1;
const limitMs = 50;

type Facts = {
  users: { id: number; token: string }[];
  staff: string;
  ids: number[];
  mine: Map<number, number>;
  orders: number;
};
type Endpoint = { name: string; path(n: number, facts: Facts): string; shopper?: boolean };

const names = ['李伟', '王芳国', 'Ann ', 'Max 杰', '陈静', '13000'];
const days = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
const pick = <T>(of: readonly T[], n: number): T => of[n % of.length]!;
const admin = (name: string, query: (n: number, facts: Facts) => string): Endpoint => ({
  name: `admin orders ${name}`,
  path: (n, facts) => `/admin/api/orders?${query(n, facts)}`,
});

const endpoints: Endpoint[] = [
  { name: 'my orders', shopper: true, path: () => '/api/v1/orders' },
  { name: 'my orders of a status', shopper: true, path: (n) => `/api/v1/orders?status=${pick([1, 2, 3, 6], n)}` },
  { name: 'my order', shopper: true, path: (n, { users, mine }) => `/api/v1/orders/${mine.get(pick(users, n).id)}` },
  admin('page 1', () => ''),
  admin('any page', (n, { orders }) => `page=${1 + ((n * 7919) % Math.ceil(orders / 20))}`),
  admin('status, any page', (n, { orders }) => `status=3&page=${1 + ((n * 7919) % Math.ceil(orders / 40))}`),
  admin('a day', (n) => `time_start=${days(1 + (n % 360))}&time_end=${days(1 + (n % 360))}`),
  admin('a month of a status', (n) => `status=6&time_start=${days(30 + (n % 300))}&time_end=${days(n % 300)}`),
  admin('pay_method', (n) => `pay_method=${pick(['alipay', 'wechat', 'none'], n)}`),
  admin('amount', (n) => `amount_min=${(n % 40) * 20}&amount_max=${(n % 40) * 20 + pick([1, 50, 5000], n)}`),
  admin('province', (n) => `province=${encodeURIComponent(pick(['浙江', '广东', 'Zhe', '西藏'], n))}`),
  admin('carrier', (n) => `logistics_company=${pick(['SF', 'EMS', 'NONE'], n)}`),
  admin('keyword: order number', (n, { ids }) => `keyword=${pick(ids, n)}`),
  admin('keyword: person', (n) => `keyword=${encodeURIComponent(pick(names, n))}`),
  admin('keyword: one product', (n) => `keyword=${encodeURIComponent(`Tea pot No. ${5 + 8 * (n % 100)}`)}`),
  admin('keyword: many products', (n) => `keyword=${pick(['mug', 'scarf', 'No.', '7'], n)}`),
  admin('keyword, status and amount', (n) => `keyword=${pick(['mug', 'Tea'], n)}&status=2&amount_max=500`),
  { name: 'admin order', path: (n, { ids }) => `/admin/api/orders/${pick(ids, n)}` },
];

async function factsOf({ sql, tokens }: Cluster): Promise<Facts> {
  // Ordinary shoppers, and the shopper with most orders.
  const rows = await sql<{ user_id: number; id: number }[]>`
    (select user_id, max(id) as id from orders.orders group by user_id order by count(*) desc limit 1)
    union all
    (select user_id, max(id) from orders.orders where user_id % 97 = 0 group by user_id limit 49)`;
  const [total] = await sql<
    { n: number; first: number }[]
  >`select count(*)::int as n, min(id) as first from orders.orders`;
  const users = await Promise.all(
    rows.map(async ({ user_id: id }) => ({ id, token: await tokens.issue({ role: 'user', id, perms: [] }) })),
  );
  return {
    users,
    staff: await tokens.issue({ role: 'admin', id: 1, perms: ['*'] }),
    ids: Array.from({ length: 97 }, (_, n) => total!.first + Math.floor((n / 97) * total!.n)),
    mine: new Map(rows.map((row) => [row.user_id, row.id])),
    orders: total!.n,
  };
}

async function measureEndpoint(url: string, endpoint: Endpoint, facts: Facts) {
  const histogram = newHistogram();
  let next = 0;
  const client = async () => {
    while (next < requests) {
      const n = next++;
      const token = endpoint.shopper ? pick(facts.users, n).token : facts.staff;
      const began = performance.now();
      const answer = await fetch(url + endpoint.path(n, facts), { headers: { authorization: `Bearer ${token}` } });
      const { code, message } = (await answer.json()) as { code: number; message: string };
      if (code !== 0) throw new Error(`${endpoint.path(n, facts)}: ${code} ${message}`);
      // The first requests open connections and fill caches.
      if (n >= 20) histogram.record(Math.round((performance.now() - began) * 1000));
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  return { p50: histogram.quantile(0.5), p99: histogram.quantile(0.99) };
}

async function measureAll(cluster: Cluster): Promise<Map<string, { p50: number; p99: number }>> {
  const folder = await temporaryFolder();
  const server = await startShop({ data: folder.path, databaseUrl: cluster.url });
  const facts = await factsOf(cluster);
  const results = new Map<string, { p50: number; p99: number }>();
  for (const endpoint of endpoints) {
    results.set(endpoint.name, await measureEndpoint(server.url, endpoint, facts));
    progress(`${endpoint.name}: p99 ${results.get(endpoint.name)!.p99.toFixed(1)} ms`);
  }
  await server.stop();
  await folder.remove();
  return results;
}

/** Measures lists and details of a large shop and of a shop with a hundredth of its orders, by one server in one run. */
export async function scale(cluster: Cluster, { orders }: BenchOptions): Promise<Section[]> {
  const small = Math.ceil(orders / 100);
  const sizeOf = (count: number) => ({
    orders: count,
    shoppers: Math.ceil(count / 20),
    products: Math.ceil(count / 200),
  });
  await seedScale(cluster.sql, sizeOf(small), progress);
  const before = await measureAll(cluster);
  await seedScale(cluster.sql, sizeOf(orders - small), progress);
  const after = await measureAll(cluster);
  const rows = endpoints.map(({ name }): Row => {
    const [one, all] = [before.get(name)!, after.get(name)!];
    return { endpoint: name, 'p50 ms': all.p50, 'p99 ms': all.p99, 'p50 ms, 1/100': one.p50, ratio: all.p50 / one.p50 };
  });
  const slow = rows.filter((row) => (row['p99 ms'] as number) > limitMs).map((row) => row.endpoint);
  return [
    {
      title: `${orders.toLocaleString('en')} orders and ${small.toLocaleString('en')}, one client, ${requests} requests each`,
      rows,
      notes: [slow.length > 0 ? `p99 over ${limitMs} ms: ${slow.join(', ')}` : `p99 of all under ${limitMs} ms`],
    },
  ];
}
