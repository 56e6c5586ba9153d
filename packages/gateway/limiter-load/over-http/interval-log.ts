/** What one key was admitted, seen from outside: of each request it is only known that it was charged between two moments. */
export type IntervalLog = {
  /** Most that was admitted within one window for certain. */
  readonly maxRequests: number;
  readonly maxTokens: number;
  /** Moments in ms of one clock; `received` is not before that of the call before. */
  admitted(sent: number, received: number, tokens: number): void;
};

const bucketMs = 50;
/** An entry's millisecond is rounded down, and the clocks of two machines drift: a window is taken this much shorter. */
const doubtMs = 100;

/**
 * Sums by the time of sending, in buckets: whatever was sent in the buckets that lie within a window before the latest
 * answer has been charged within that window. What lies partly outside is not counted, so this errs to the low side only.
 */
export function openIntervalLog(windowMs: number): IntervalLog {
  const size = Math.ceil(windowMs / bucketMs) + 2;
  const requests = new Uint32Array(size);
  const tokens = new Float64Array(size);
  const span = windowMs - doubtMs;
  let first = 0;
  let sumRequests = 0;
  let sumTokens = 0;
  let maxRequests = 0;
  let maxTokens = 0;
  const drop = (until: number) => {
    for (let bucket = Math.max(first, until - size); bucket < until; bucket += 1) {
      sumRequests -= requests[bucket % size]!;
      sumTokens -= tokens[bucket % size]!;
      requests[bucket % size] = 0;
      tokens[bucket % size] = 0;
    }
    first = until;
  };
  return {
    get maxRequests() {
      return maxRequests;
    },
    get maxTokens() {
      return maxTokens;
    },
    admitted(sent, received, cost) {
      const from = Math.ceil((received - span) / bucketMs);
      if (from > first) drop(from);
      const bucket = Math.floor(sent / bucketMs);
      if (bucket < first) return;
      requests[bucket % size]! += 1;
      tokens[bucket % size]! += cost;
      sumRequests += 1;
      sumTokens += cost;
      maxRequests = Math.max(maxRequests, sumRequests);
      maxTokens = Math.max(maxTokens, sumTokens);
    },
  };
}
