import {
  Counter,
  type CounterConfiguration,
  collectDefaultMetrics,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  Registry,
} from 'prom-client';

/** `flushed: true`: hooks in `beforeRead` write its value when it is read. */
type Options<C> = Omit<C, 'registers' | 'collect'> & { readonly flushed?: boolean };

/** Prometheus metrics of one process: those of the runtime, and what the other packages need to define theirs. */
export type Metrics = ReturnType<typeof openMetrics>;

export function openMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  /** A count that is too frequent for a labelled counter is kept in plain numbers. Its hook adds them to the counter before a read. */
  const beforeRead = new Set<() => void>();
  const collect = () => {
    for (const flush of beforeRead) flush();
  };
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
    retentionRows: counter({
      name: 'retention_deleted_rows_total',
      help: 'Rows deleted for their age, by rule',
      labelNames: ['rule'],
    }),
    batchSize: histogram({
      name: 'group_commit_batch_size',
      help: 'Calls written in one transaction, by use case',
      labelNames: ['use_case'],
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
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
 * The metrics of a package. The function that it answers creates them in the metrics of a process at the first call, and answers
 * the same ones at every other call. Call it where a component is opened, not per request.
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
