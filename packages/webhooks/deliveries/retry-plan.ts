const [second, minute, hour] = [1_000, 60_000, 3_600_000];
/** The pauses after failed attempts. After the last one the delivery has failed: about 3.5 days after the event. */
const pausesMs = [
  ...[5 * second, minute, 5 * minute, 30 * minute],
  ...[2 * hour, 8 * hour, 24 * hour, 48 * hour],
] as const;
/** The attempts of a delivery. */
export const maxAttempts = pausesMs.length + 1;
/** Each pause is up to this share longer, so that deliveries that failed together are not repeated together. */
const jitter = 0.2;
/** The longest pause that a receiver can ask for. */
const longestRetryAfterMs = 24 * hour;

/** The pause after the failed attempt `attempt` (from 1), or null when it was the last one. */
export function pauseAfter(attempt: number, retryAfterMs: number | null, random = Math.random): number | null {
  const pause = pausesMs[attempt - 1];
  if (pause === undefined) return null;
  const planned = pause * (1 + jitter * random());
  return Math.round(Math.max(planned, Math.min(retryAfterMs ?? 0, longestRetryAfterMs)));
}

/** `Retry-After`: seconds or a date. Null when it is neither. */
export function retryAfterOf(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime());
}
