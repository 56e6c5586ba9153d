/** Durations in a few hundred buckets, each 3 % wide: percentiles of a run of any length in the same memory. */
export type Histogram = {
  readonly count: number;
  add(ms: number): void;
  /** All figures in milliseconds; zeros when there was nothing. */
  summary(): Latency;
};
type Latency = { readonly mean: number; readonly p50: number; readonly p99: number; readonly max: number };

/** The unit is a tenth of a microsecond: up to 3.5 minutes fit in 31 bits. */
const perMs = 10_000;
const largest = 2 ** 31 - 1;

/** Below 64 a bucket is one unit; above, 32 buckets to each doubling. */
function bucketOf(value: number): number {
  if (value < 64) return value;
  const shift = 26 - Math.clz32(value);
  return shift * 32 + (value >>> shift);
}

/** The largest value of a bucket. */
function upperOf(bucket: number): number {
  if (bucket < 64) return bucket;
  const shift = (bucket >> 5) - 1;
  return (bucket - shift * 32 + 1) * 2 ** shift - 1;
}

export function openHistogram(): Histogram {
  const counts = new Float64Array(bucketOf(largest) + 1);
  let count = 0;
  let sum = 0;
  let max = 0;
  const percentile = (share: number) => {
    const wanted = Math.ceil(count * share);
    let passed = 0;
    for (let bucket = 0; bucket < counts.length; bucket += 1) {
      passed += counts[bucket]!;
      if (passed >= wanted) return Math.min(upperOf(bucket) / perMs, max);
    }
    return max;
  };
  return {
    get count() {
      return count;
    },
    add(ms) {
      count += 1;
      sum += ms;
      if (ms > max) max = ms;
      counts[bucketOf(Math.min(largest, Math.max(0, Math.round(ms * perMs))))]! += 1;
    },
    summary: () =>
      count === 0
        ? { mean: 0, p50: 0, p99: 0, max: 0 }
        : { mean: sum / count, p50: percentile(0.5), p99: percentile(0.99), max },
  };
}
