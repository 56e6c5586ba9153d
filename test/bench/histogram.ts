/**
 * Latencies in microseconds in log-linear buckets: exact below 256 us, above it 128 buckets per power of two, so a
 * quantile is off by less than 1 %. Recording is two integer operations and an increment.
 */
export type Histogram = {
  record(microseconds: number): void;
  /** Milliseconds below which the share `q` (0..1) of the values lies. */
  quantile(q: number): number;
  /** Milliseconds. */
  max(): number;
  count(): number;
};

const exact = 256;
const perPower = 128;
const powers = 24;

function bucketOf(value: number): number {
  if (value < exact) return value;
  const shift = 24 - Math.clz32(value);
  return exact + (shift - 1) * perPower + ((value >>> shift) - perPower);
}

function upperEdge(bucket: number): number {
  if (bucket < exact) return bucket;
  const shift = Math.trunc((bucket - exact) / perPower) + 1;
  return (((bucket - exact) % perPower) + perPower + 1) * 2 ** shift - 1;
}

export function newHistogram(): Histogram {
  const buckets = new Uint32Array(exact + powers * perPower);
  let count = 0;
  let max = 0;
  return {
    record(microseconds) {
      const value = Math.max(0, microseconds | 0);
      buckets[bucketOf(value)]! += 1;
      count += 1;
      if (value > max) max = value;
    },
    quantile(q) {
      let left = Math.ceil(q * count);
      for (let bucket = 0; bucket < buckets.length; bucket++) {
        left -= buckets[bucket]!;
        if (left <= 0) return Math.min(upperEdge(bucket), max) / 1000;
      }
      return max / 1000;
    },
    max: () => max / 1000,
    count: () => count,
  };
}
