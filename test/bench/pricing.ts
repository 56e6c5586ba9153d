import { modules, settings } from '@tradepost/app';
import { openModules } from '@tradepost/module';
import { openPricePipeline, type PricePipeline, type PriceRequest, priceSteps } from '@tradepost/pricing';
import { loadConfig, openLog, openRuntime } from '@tradepost/runtime';
import type { BenchOptions } from './alternating-runs.ts';
import { mean, progress, type Row, type Section } from './report.ts';
import { seedBuyers, seedSkus } from './seed.ts';
import { seedCoupons, seedFlashSale, seedFullReduction, seedMembers, seedPoints } from './seed-promotions.ts';
import { type Cluster, temporaryFolder } from './server.ts';

/** Orders of one batch, each of another shopper, and their lines: one in three is of a flash sale. */
const batch = 100;
const linesEach = 3;

/** Runs `work` for about this time. Returns its calls per second. */
async function rateOf(seconds: number, work: () => unknown): Promise<number> {
  const begun = performance.now();
  let calls = 0;
  while (performance.now() - begun < seconds * 1_000) {
    await work();
    calls += 1;
  }
  return (calls * 1_000) / (performance.now() - begun);
}

/** Measures the pipeline alone: facts of a batch from the database, and prices in memory, with all steps and with none. */
export async function pricing(cluster: Cluster, options: BenchOptions): Promise<Section[]> {
  const { sql, url } = cluster;
  await seedBuyers(sql, cluster.tokens, batch);
  const skus = await seedSkus(sql, 500, 1_000);
  const activityLines = await seedFlashSale(
    sql,
    skus.filter((_, index) => index % 2),
  );
  await seedMembers(sql);
  await seedFullReduction(sql);
  await seedPoints(sql);
  const coupons = await seedCoupons(sql, 1);
  await sql`analyze`;
  const users = await sql<{ id: number }[]>`select id from identity.active_shoppers order by id`;
  const prices = new Map(
    (
      await sql<
        { id: number; product_id: number; price: number }[]
      >`select id, product_id, price from catalog.sku_cards`
    ).map((sku) => [sku.id, sku]),
  );
  const ordinary = skus.filter((_, index) => index % 2 === 0);
  const requests = users.slice(0, batch).map(({ id: user_id }, n): PriceRequest => {
    const lines = [
      activityLines[n % activityLines.length]!,
      { sku_id: ordinary[n]! },
      { sku_id: ordinary[n + batch]! },
    ].map((line) => {
      const { product_id, price } = prices.get(line.sku_id)!;
      return { activity_product_id: 0, ...line, product_id, price, qty: 2 };
    });
    return { user_id, lines, choices: { coupon_ids: coupons[n], points_use: 100 } };
  });
  const folder = await temporaryFolder();
  const { config } = loadConfig({ env: {}, flags: { databaseUrl: url, data: folder.path, databasePool: 2 } });
  const runtime = await openRuntime({ config, definitions: settings, log: openLog({ level: 'warn' }) });
  const opened = await openModules(runtime, modules);
  const pipelines = {
    'all steps': openPricePipeline(opened.context.entries(priceSteps)),
    'no step': openPricePipeline([]),
  };
  const scope = {
    requests,
    userIds: requests.map(({ user_id }) => user_id),
    skuIds: [...new Set(requests.flatMap(({ lines }) => lines.map(({ sku_id }) => sku_id)))],
    activityProductIds: [...new Set(requests.map(({ lines }) => lines[0]!.activity_product_id))],
    now: new Date(),
    lock: false,
  };
  const rows: Row[] = [];
  const measureOne = async (mode: string, pipeline: PricePipeline) => {
    const facts = await pipeline.load(runtime.sql, scope);
    const priceAll = () => requests.map((request) => pipeline.price(request, facts, scope.now));
    const priced = priceAll();
    // All steps apply: a member price, a full reduction, a coupon and points on the ordinary lines.
    const parts = mode === 'all steps' ? 4 : 0;
    const wrong = priced.find(({ discounts }) => new Set(discounts.map(({ type }) => type)).size !== parts);
    if (wrong) throw new Error(`${mode}: an order has the discounts ${JSON.stringify(wrong.discounts)}`);
    const lines = (await rateOf(options.seconds, priceAll)) * batch * linesEach;
    const loaded = await rateOf(options.seconds, async () => {
      const found = await pipeline.load(runtime.sql, scope);
      for (const request of requests) pipeline.price(request, found, scope.now);
    });
    progress(`${mode}: ${Math.round(lines)} lines/s in memory`);
    rows.push({ mode, 'lines/s in memory': lines, 'orders/s with their facts': loaded * batch });
  };
  for (const mode of ['all steps', 'no step', 'no step', 'all steps'] as const) await measureOne(mode, pipelines[mode]);
  await opened.close();
  await runtime.close();
  await folder.remove();
  const of = (mode: string) =>
    mean(rows.filter((row) => row.mode === mode).map((row) => Number(row['lines/s in memory'])));
  return [
    {
      title: `pricing: batches of ${batch} orders of ${linesEach} lines, one of them of a flash sale`,
      rows: [...rows, { mode: 'all steps / no step', 'lines/s in memory': of('all steps') / of('no step') }],
      notes: ['all steps: activity, member price, full reduction, coupon, points, distribution'],
    },
  ];
}
