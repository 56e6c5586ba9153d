import type { Log } from './log.ts';

const everyMs = 60_000;

/** Warns of what anybody can cause as often as they like: once a minute, with how often it was. */
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
