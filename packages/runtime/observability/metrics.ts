import {
  Counter,
  type CounterConfiguration,
  collectDefaultMetrics,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  type Metric,
  Registry,
} from 'prom-client';

/** `flushed: true`: a hook in `beforeRead` writes the value of the metric before each read. */
type Options<C> = Omit<C, 'registers' | 'collect'> & { readonly flushed?: boolean };

/**
 * Creates series of a counter with the value 0. Otherwise a series begins with its first event, and the functions `rate` and
 * `increase` of Prometheus do not see that event.
 */
export function startAtZero<L extends string>(counter: Counter<L>, series: readonly Record<L, string>[]): void {
  for (const labels of series) counter.inc(labels, 0);
}

let processMetrics: readonly Metric[] | undefined;
/**
 * Metrics of Node and of the process. They are made once: each of their observers of garbage collections and of the event loop stays
 * until the process ends.
 */
function ofProcess(): readonly Metric[] {
  if (!processMetrics) {
    const register = new Registry();
    collectDefaultMetrics({ register });
    processMetrics = register.getMetricsAsArray() as unknown as Metric[];
  }
  return processMetrics;
}

/**
 * The Prometheus metrics of one process: the metrics of the runtime, and functions to define the metrics of other
 * packages.
 */
export type Metrics = ReturnType<typeof openMetrics>;

export function openMetrics() {
  const registry = new Registry();
  for (const metric of ofProcess()) registry.registerMetric(metric);
  /**
   * A labelled counter is too slow for very frequent events: they are counted in plain numbers, and a hook adds them
   * before a read. A read waits for a hook that returns a promise.
   */
  const beforeRead = new Set<() => unknown>();
  const collect = async (): Promise<void> => {
    await Promise.all([...beforeRead].map((flush) => flush()));
  };
  let reading: Promise<string> | null = null;
  const withRegistry = <C>({ flushed, ...options }: Options<C>) => ({
    ...options,
    ...(flushed ? { collect } : {}),
    registers: [registry],
  });
  const counter = <L extends string = never>(options: Options<CounterConfiguration<L>>) =>
    new Counter<L>(withRegistry(options) as CounterConfiguration<L>);
  const gauge = <L extends string = never>(options: Options<GaugeConfiguration<L>>) =>
    new Gauge<L>(withRegistry(options) as GaugeConfiguration<L>);
  const histogram = <L extends string = never>(options: Options<HistogramConfiguration<L>>) =>
    new Histogram<L>(withRegistry(options) as HistogramConfiguration<L>);
  return {
    ...{ registry, beforeRead, counter, gauge, histogram },
    /** The text for Prometheus. Calls that arrive meanwhile get the same text. */
    read(): Promise<string> {
      reading ??= registry.metrics().finally(() => {
        reading = null;
      });
      return reading;
    },
    retentionRows: counter({
      name: 'retention_deleted_rows_total',
      help: 'Old rows deleted, by retention rule',
      labelNames: ['rule'],
    }),
    batchSize: histogram({
      name: 'group_commit_batch_size',
      help: 'Calls written in one transaction, by use case',
      labelNames: ['use_case'],
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    }),
    spans: counter({
      name: 'trace_spans_total',
      help: 'Recorded spans: exported, dropped (too many wait for the collector) or failed (the collector did not take them)',
      labelNames: ['result'],
    }),
    statements: counter({ name: 'db_statements_total', help: 'SQL statements sent' }),
    jobs: counter({
      name: 'jobs_total',
      help: 'Job runs by task and result',
      labelNames: ['task', 'result'],
    }),
  };
}

/**
 * Declares the metrics of a package. The returned function creates them in the metrics of a process at its first call,
 * and returns the same objects at later calls. Call it when a component opens, not per request.
 */
export function defineMetrics<T>(create: (metrics: Metrics) => T): (metrics: Metrics) => T {
  const created = new WeakMap<Metrics, T>();
  return (metrics) => {
    const known = created.get(metrics);
    if (known !== undefined) return known;
    const made = create(metrics);
    created.set(metrics, made);
    return made;
  };
}
