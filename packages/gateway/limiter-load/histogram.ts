import { createHistogram } from 'node:perf_hooks';

/** Durations of a run. Percentiles are within 0.1 %, and memory does not grow with the run. */
export type Histogram = {
  readonly count: number;
  record(ms: number): void;
  /** All figures in milliseconds; zeros when nothing was recorded. */
  summary(): Latency;
};
type Latency = { readonly mean: number; readonly p50: number; readonly p99: number; readonly max: number };

const nsPerMs = 1_000_000;

/** The HDR histogram of Node, in nanoseconds. It accepts no value below 1. */
export function openHistogram(): Histogram {
  const histogram = createHistogram({ figures: 3 });
  /** The histogram itself rounds its maximum. */
  let max = 0;
  const percentile = (share: number) => Math.min(histogram.percentile(share) / nsPerMs, max);
  return {
    get count() {
      return histogram.count;
    },
    record(ms) {
      if (ms > max) max = ms;
      histogram.record(Math.max(1, Math.round(ms * nsPerMs)));
    },
    summary: () =>
      histogram.count === 0
        ? { mean: 0, p50: 0, p99: 0, max: 0 }
        : { mean: histogram.mean / nsPerMs, p50: percentile(50), p99: percentile(99), max },
  };
}
