/** The admissions of one key, seen by a client. A client knows that a request was charged between sending and answer. */
export type IntervalLog = {
  /** The largest number that was certainly admitted within one window. */
  readonly maxRequests: number;
  readonly maxTokens: number;
  /** Times are ms of one clock. `received` is not earlier than in the previous call. */
  admitted(sent: number, received: number, tokens: number): void;
};

const bucketMs = 50;
/** The window is this much shorter, because the limiter rounds times down and the clocks of two machines drift. */
const toleranceMs = 100;

/**
 * Counts requests by the time of sending, in buckets. All requests of the buckets within one window before the latest answer
 * were charged within that window. A bucket that is partly outside is not counted, so the result is never too high.
 */
export function openIntervalLog(windowMs: number): IntervalLog {
  const size = Math.ceil(windowMs / bucketMs) + 2;
  const requests = new Uint32Array(size);
  const tokens = new Float64Array(size);
  const span = windowMs - toleranceMs;
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
