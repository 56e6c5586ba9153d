import { type LoadJob, mustSucceed } from './load.ts';
import { mean, progress, type Row, type Section } from './report.ts';
import { countOrders, resetOrders } from './seed.ts';
import { type Cluster, type Measured, measure, startShop, temporaryFolder } from './server.ts';

/** The default group commit, and the same code with one transaction per call on more connections. */
export const modes = {
  'group commit': {},
  'one by one': { BATCH_MAX: '1', BATCHES_IN_FLIGHT: '12', DATABASE_POOL: '16' },
} as const satisfies Record<string, Record<string, string>>;
type Mode = keyof typeof modes;
const order: readonly Mode[] = ['group commit', 'one by one', 'group commit', 'one by one'];

export const stockOfEach = 100_000_000;
export const connections = 64;
export const shoppers = 2_048;

export type BenchOptions = {
  /** Measured seconds of each run. */
  seconds: number;
  /** Orders of the large shop (bench scale). */
  orders: number;
  /** Folder for CPU profiles of the server. */
  profile?: string | undefined;
};

/**
 * Runs both modes alternately on one cluster, each time with a new server and empty order tables. Other work of the machine
 * thus affects both. After every run the database must have exactly the confirmed orders.
 */
export async function runAlternating(
  cluster: Cluster,
  load: { title: string; unit: string; callsPerUnit: number } & Omit<
    LoadJob,
    'port' | 'connections' | 'seconds' | 'warmupSeconds'
  >,
  options: BenchOptions,
): Promise<Section> {
  const measured: { mode: Mode; result: Measured }[] = [];
  for (const mode of order) {
    await resetOrders(cluster.sql, stockOfEach);
    const folder = await temporaryFolder();
    const server = await startShop({
      env: modes[mode],
      data: folder.path,
      databaseUrl: cluster.url,
      profile: mode === 'group commit' ? options.profile : undefined,
    });
    const { scenario, data } = load;
    const job = { scenario, data, connections, warmupSeconds: 2, seconds: options.seconds } as Omit<LoadJob, 'port'>;
    const result = await measure(server, cluster, job);
    await server.stop();
    await folder.remove();
    mustSucceed(result, scenario);
    const confirmed = result.codes['0']! / load.callsPerUnit;
    const { unpaid, paid } = await countOrders(cluster.sql, stockOfEach);
    const [found, other] = scenario === 'purchases' ? [paid, unpaid] : [unpaid, paid];
    if (found !== confirmed || other !== 0)
      throw new Error(
        `${load.title}, ${mode}: clients got ${confirmed} confirmed, the database has ${found} (+ ${other})`,
      );
    progress(`${load.title}, ${mode}: ${Math.round(result.perSecond)}/s, ${found} found in the database`);
    measured.push({ mode, result });
  }
  const of = (mode: Mode, field: 'perSecond' | 'p50' | 'p99' | 'statementsPerUnit') =>
    mean(measured.filter((run) => run.mode === mode).map((run) => run.result[field]));
  const ratio = (field: Parameters<typeof of>[1]) => of('group commit', field) / of('one by one', field);
  const { unit } = load;
  const rows = measured.map(({ mode, result }): Row => rowOf(mode, unit, result));
  rows.push({
    mode: 'ratio of the means',
    [`${unit}s/s`]: ratio('perSecond'),
    'p50 ms': ratio('p50'),
    'p99 ms': ratio('p99'),
    [`SQL/${unit}`]: ratio('statementsPerUnit'),
  });
  return {
    title: load.title,
    rows,
    notes: ['after every run: orders, reservations and stock agree with the answers'],
  };
}

const rowOf = (mode: Mode, unit: string, result: Measured): Row => ({
  mode,
  [`${unit}s/s`]: result.perSecond,
  'p50 ms': result.p50,
  'p99 ms': result.p99,
  'max ms': result.max,
  [`SQL/${unit}`]: result.statementsPerUnit,
  'API CPU us': result.apiCpu,
  'PostgreSQL CPU us': result.postgresCpu,
  'load CPU us': (result.cpuSeconds / result.units) * 1e6,
});
