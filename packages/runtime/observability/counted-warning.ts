import type { Log } from './log.ts';

const everyMs = 60_000;

/**
 * Logs a warning that clients can cause at any rate. It writes at most one line per minute, with the number of events
 * as `times`.
 */
export function openCountedWarning(log: Log, text: string): (fields: Readonly<Record<string, unknown>>) => void {
  let times = 0;
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (fields) => {
    times += 1;
    if (performance.now() - warnedAt < everyMs) return;
    log.warn({ ...fields, times }, text);
    warnedAt = performance.now();
    times = 0;
  };
}
