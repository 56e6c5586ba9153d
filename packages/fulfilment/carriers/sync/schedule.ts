const hour = 3_600_000;
const day = 24 * hour;
const longestPauseMs = 6 * hour;
/** A shipment that is on its way for so long is queried once a day. */
const slowAfterMs = 30 * day;
/** A shipment that is on its way for so long is lost. Only a sync by hand queries it. */
const endsAfterMs = 90 * day;

/**
 * When a shipment is queried next; null when polling gives it up. The pause doubles with each failed query in a row, up to
 * six hours.
 */
export function nextQueryAt(
  now: Date,
  shipment: { readonly since: Date; readonly failures: number; readonly intervalSeconds: number },
): Date | null {
  const age = now.getTime() - shipment.since.getTime();
  if (age > endsAfterMs) return null;
  const interval = shipment.intervalSeconds * 1000;
  const backedOff = Math.min(interval * 2 ** Math.min(shipment.failures, 20), Math.max(interval, longestPauseMs));
  return new Date(now.getTime() + Math.max(backedOff, age > slowAfterMs ? day : 0));
}
