import type { Sql } from '@tradepost/postgres';
import { type BenchOptions, connections, shoppers, stockOfEach } from './alternating-runs.ts';
import { type LoadJob, mustSucceed } from './load.ts';
import { mean, progress, type Row, type Section } from './report.ts';
import type { Buyer } from './scenarios.ts';
import { countOrders, resetOrders, seedBuyers, seedSkus } from './seed.ts';
import { type Cluster, type Measured, measure, startShop, temporaryFolder } from './server.ts';

const modes = ['plain hot SKU', 'flash sale'] as const;
type Mode = (typeof modes)[number];
/** The aim: orders of an activity per second, of those of a plain hot SKU. */
const aim = 0.8;
/** A cap that no run reaches: its checks run as with any cap. */
const highCap = stockOfEach;

/** A running flash sale of these SKUs. Returns the ids of its rows. */
async function seedSale(sql: Sql, skus: readonly number[]): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    with made as (
      insert into activities.activities (type, name, start_at, end_at)
      values ('seckill', 'Bench', now() - interval '1 hour', now() + interval '1 day') returning id)
    insert into activities.activity_products (activity_id, product_id, sku_id, activity_price, total_stock_limit)
    select made.id, s.product_id, s.id, s.price / 2, ${highCap}
    from made, catalog.product_skus s where s.id = any(${[...skus]}::bigint[]) order by s.id returning id`;
  return rows.map(({ id }) => id);
}

async function resetSale(sql: Sql, cap: number): Promise<void> {
  await resetOrders(sql, stockOfEach);
  await sql`truncate activities.order_uses, activities.case_returns`;
  await sql`update activities.activity_products set sold_qty = 0, total_stock_limit = ${cap}`;
  await sql`vacuum analyze activities.activity_products, activities.activities`;
}

/** Checks that the row has sold what the clients got, and what orders have recorded. */
async function mustAgree(sql: Sql, mode: string, row: number, confirmed: number): Promise<void> {
  const { unpaid } = await countOrders(sql, stockOfEach);
  const [sold] = await sql<{ sold_qty: number; uses: number }[]>`
    select sold_qty, (select coalesce(sum(qty - returned_qty), 0)::int from activities.order_uses) as uses
    from activities.activity_products where id = ${row}`;
  const expected = mode === 'plain hot SKU' ? 0 : confirmed;
  if (unpaid !== confirmed || sold!.sold_qty !== expected || sold!.uses !== expected)
    throw new Error(`${mode}: clients got ${confirmed}, the database has ${unpaid} orders and ${JSON.stringify(sold)}`);
}

type Load = { buyers: readonly Buyer[]; sku: number; row: number };
const dataOf = ({ buyers, sku, row }: Load, mode: Mode) => ({
  ...{ buyers, skus: [sku], lines: 1 },
  ...(mode === 'flash sale' && { activityProductId: row }),
});

/** One run on a new server. */
async function run(cluster: Cluster, options: BenchOptions, job: Omit<LoadJob, 'port'>): Promise<Measured> {
  const folder = await temporaryFolder();
  const server = await startShop({ data: folder.path, databaseUrl: cluster.url, profile: options.profile });
  const result = await measure(server, cluster, job);
  await server.stop();
  await folder.remove();
  return result;
}

/** Measures orders of one SKU alternately: plain, and as the only row of a flash sale. */
async function orderTurns(cluster: Cluster, options: BenchOptions, load: Load): Promise<Section> {
  const measured: { mode: Mode; result: Measured }[] = [];
  for (const mode of [...modes, ...modes]) {
    await resetSale(cluster.sql, highCap);
    const { seconds } = options;
    const data = dataOf(load, mode);
    const result = await run(cluster, options, { scenario: 'orders', data, connections, warmupSeconds: 2, seconds });
    mustSucceed(result, 'orders');
    await mustAgree(cluster.sql, mode, load.row, result.codes['0']!);
    progress(`${mode}: ${Math.round(result.perSecond)} orders/s`);
    measured.push({ mode, result });
  }
  const of = (mode: Mode, field: 'perSecond' | 'p50' | 'p99') =>
    mean(measured.filter((turn) => turn.mode === mode).map((turn) => turn.result[field]));
  const ratio = (field: Parameters<typeof of>[1]) => of('flash sale', field) / of('plain hot SKU', field);
  const rows = measured.map(
    ({ mode, result }): Row => ({
      mode,
      'orders/s': result.perSecond,
      'p50 ms': result.p50,
      'p99 ms': result.p99,
      'SQL/order': result.statementsPerUnit,
      'API CPU us': result.apiCpu,
      'PostgreSQL CPU us': result.postgresCpu,
    }),
  );
  const means = { 'orders/s': ratio('perSecond'), 'p50 ms': ratio('p50'), 'p99 ms': ratio('p99') };
  rows.push({ mode: 'ratio of the means', ...means });
  return {
    title: `one SKU, ${connections} connections: plain, and as a row of a flash sale`,
    rows,
    notes: [
      'after every run: orders, stock, sold_qty and uses agree with the answers',
      `aim: at least ${aim} of the plain orders/s`,
    ],
  };
}

/** Sells a row until its cap, which is reached in about half of the time. The rest is refused. */
async function capTurn(cluster: Cluster, options: BenchOptions, load: Load, rate: number): Promise<Section> {
  const cap = Math.max(100, Math.round((rate * options.seconds) / 3));
  await resetSale(cluster.sql, cap);
  const { seconds } = options;
  const data = dataOf(load, 'flash sale');
  const result = await run(cluster, options, { scenario: 'orders', data, connections, warmupSeconds: 0, seconds });
  const { '0': confirmed = 0, '20001': refused = 0, ...others } = result.codes;
  if (confirmed !== cap || refused === 0 || Object.keys(others).length > 0 || result.failures.length > 0)
    throw new Error(`a cap of ${cap}: ${JSON.stringify(result.codes)} ${result.failures.join('; ')}`);
  await mustAgree(cluster.sql, 'flash sale', load.row, cap);
  return {
    title: 'until the cap and beyond',
    rows: [
      {
        ...{ cap, 'orders confirmed': confirmed, 'orders refused': refused },
        ...{ 'answers/s': result.answers / result.seconds, 'p99 ms': result.answerP99 },
      },
    ],
    notes: ['exactly the cap was sold'],
  };
}

/** The lists and the supplement of activities beside the product list and the product page. */
async function reads(cluster: Cluster, { seconds }: BenchOptions, row: number): Promise<Section> {
  const folder = await temporaryFolder();
  const server = await startShop({ data: folder.path, databaseUrl: cluster.url });
  const paths = {
    'product list, 20 of 500': '/api/v1/products?size=20',
    'flash sale list, 20 of 100': '/api/v1/seckill/products?size=20',
    'flash sale list by sales, 20 of 100': '/api/v1/seckill/products?size=20&sort_by=sales&sort_order=desc',
    'product page': '/api/v1/products/1',
    'activity supplement': `/api/v1/marketing/activity-products/${row}`,
  };
  const rows: Row[] = [];
  for (const [read, path] of Object.entries(paths)) {
    const job = { scenario: 'reads', data: { paths: [path] }, connections, warmupSeconds: 1, seconds } as const;
    const result = await measure(server, cluster, job);
    mustSucceed(result, 'reads');
    progress(`${read}: ${Math.round(result.perSecond)}/s`);
    rows.push({
      read,
      'requests/s': result.perSecond,
      'p50 ms': result.p50,
      'p99 ms': result.p99,
      'SQL/request': result.statementsPerUnit,
      'API CPU us': result.apiCpu,
      'PostgreSQL CPU us': result.postgresCpu,
    });
  }
  await server.stop();
  await folder.remove();
  return { title: `reads, ${connections} connections`, rows };
}

/** Measures a flash sale: orders of one SKU, its cap, and what shoppers read before. */
export async function flashSale(cluster: Cluster, options: BenchOptions): Promise<Section[]> {
  const buyers = await seedBuyers(cluster.sql, cluster.tokens, shoppers);
  const skus = await seedSkus(cluster.sql, 500, stockOfEach);
  const [row] = await seedSale(cluster.sql, skus.slice(0, 100));
  const load = { buyers, sku: skus[0]!, row: row! };
  const orders = await orderTurns(cluster, options, load);
  const plain = Number(orders.rows[0]!['orders/s']);
  const cap = await capTurn(cluster, options, load, plain);
  await resetSale(cluster.sql, highCap);
  await cluster.sql`vacuum analyze`;
  return [orders, cap, await reads(cluster, options, load.row)];
}
