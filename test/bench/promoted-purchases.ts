import type { Sql } from '@tradepost/postgres';
import { type BenchOptions, connections, stockOfEach } from './alternating-runs.ts';
import { type LoadJob, mustSucceed } from './load.ts';
import { mean, progress, type Row, type Section } from './report.ts';
import type { Buyer } from './scenarios.ts';
import { countOrders, resetOrders } from './seed.ts';
import { seedCoupons, seedFlashSale, seedFullReduction, seedMembers } from './seed-promotions.ts';
import { type Cluster, type Measured, measure, startShop, temporaryFolder } from './server.ts';

/** More than a shopper can use in a run. */
const couponsEach = 100;

/** Brings back what orders have used of activities and coupons. */
async function resetPromotions(sql: Sql): Promise<void> {
  await sql`truncate activities.order_uses, activities.case_returns`;
  await sql`update activities.activity_products set sold_qty = 0`;
  await sql`update marketing.user_coupons set status = 1, order_id = null, used_at = null where status = 2`;
  await sql`vacuum analyze activities.activity_products, marketing.user_coupons`;
}

/** Checks that the orders used one coupon and one piece of an activity each, and took a member price and a full reduction. */
async function mustHaveUsed(sql: Sql, confirmed: number): Promise<void> {
  const [row] = await sql<Record<string, number>[]>`
    select (select coalesce(sum(sold_qty), 0) from activities.activity_products)::int as pieces,
      (select count(*) from marketing.user_coupons where status = 2)::int as coupons,
      (select count(*) from orders.orders where jsonb_array_length(discounts) = 3)::int as discounted`;
  const wanted = { pieces: confirmed, coupons: confirmed, discounted: confirmed };
  if (JSON.stringify(row) !== JSON.stringify(wanted))
    throw new Error(`promotions: the database has ${JSON.stringify(row)} instead of ${JSON.stringify(wanted)}`);
}

/**
 * Compares purchases of two ordinary lines with purchases that take every promotion: a flash sale line, a line with a member price, a
 * full reduction and a coupon. Plain purchases are of shoppers and a shop without promotions: the promotions are created after
 * the first and removed before the last turn.
 */
export async function promotedPurchases(
  cluster: Cluster,
  options: BenchOptions,
  { buyers, skus }: { buyers: readonly Buyer[]; skus: readonly number[] },
): Promise<Section> {
  const { sql } = cluster;
  const [onSale, ordinary] = [skus.filter((_, index) => index % 2), skus.filter((_, index) => index % 2 === 0)];
  const turns: { mode: 'plain' | 'promoted'; result: Measured }[] = [];
  const turn = async (mode: 'plain' | 'promoted', load: Pick<LoadJob, 'scenario' | 'data'>) => {
    await resetOrders(sql, stockOfEach);
    await resetPromotions(sql);
    const folder = await temporaryFolder();
    const server = await startShop({ env: {}, data: folder.path, databaseUrl: cluster.url, profile: options.profile });
    const job = { ...load, connections, warmupSeconds: 2, seconds: options.seconds } as Omit<LoadJob, 'port'>;
    const result = await measure(server, cluster, job);
    await server.stop();
    await folder.remove();
    mustSucceed(result, load.scenario);
    const confirmed = result.codes['0']! / 4;
    const { paid, unpaid } = await countOrders(sql, stockOfEach);
    if (paid !== confirmed || unpaid !== 0)
      throw new Error(`${mode}: ${confirmed} confirmed, ${paid} paid, ${unpaid} unpaid`);
    if (mode === 'promoted') await mustHaveUsed(sql, confirmed);
    progress(`${mode}: ${Math.round(result.perSecond)} purchases/s`);
    turns.push({ mode, result });
  };
  const plain = { scenario: 'purchases', data: { buyers, skus } } as const;
  await turn('plain', plain);
  const activityLines = await seedFlashSale(sql, onSale);
  await seedMembers(sql);
  await seedFullReduction(sql);
  const coupons = await seedCoupons(sql, couponsEach);
  const promoted = { scenario: 'promotedPurchases', data: { buyers, skus: ordinary, activityLines, coupons } } as const;
  await turn('promoted', promoted);
  await turn('promoted', promoted);
  await sql`update activities.activities set status = 0`;
  await sql`update marketing.full_reductions set status = 0`;
  await sql`update vip.assets set status = 0`;
  await turn('plain', plain);
  const of = (mode: 'plain' | 'promoted', field: 'perSecond' | 'p99') =>
    mean(turns.filter((each) => each.mode === mode).map(({ result }) => result[field]));
  return {
    title: 'purchase with a flash sale line, a member price, a full reduction and a coupon',
    rows: [
      ...turns.map(
        ({ mode, result }): Row => ({
          mode,
          'purchases/s': result.perSecond,
          'p50 ms': result.p50,
          'p99 ms': result.p99,
          'SQL/purchase': result.statementsPerUnit,
          'API CPU us': result.apiCpu,
          'PostgreSQL CPU us': result.postgresCpu,
        }),
      ),
      { mode: 'promoted / plain', 'purchases/s': of('promoted', 'perSecond') / of('plain', 'perSecond') },
    ],
    notes: ['after every turn: orders, reservations, stock, sold pieces and used coupons agree with the answers'],
  };
}
