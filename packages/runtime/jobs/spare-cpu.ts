import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds of CPU time of all cores since the start of the machine. */
type CpuTime = { readonly idle: number; readonly all: number };

/** The machine is busy when less than this part of its CPU time was idle. */
const idleOfBusy = 0.1;
const windowMs = 250;
/** The part of the time that background work may take on a machine that stays busy. */
const smallestShare = 0.05;
const longestRestMs = 2_000;

function readCpuTime(): CpuTime {
  let [idle, all] = [0, 0];
  for (const { times } of cpus()) {
    idle += times.idle;
    all += times.idle + times.user + times.nice + times.sys + times.irq;
  }
  return { idle, all };
}

/**
 * Waits after a piece of background work. With idle CPU time it returns at once. On a busy machine it waits so long that such work
 * takes a twentieth of the time, and requests get the rest. `workedMs`: the time of the work.
 */
export type Rest = (workedMs: number, stopping: AbortSignal) => Promise<void>;

/** For work that must not wait for others: a command, or a test. */
export const noRest: Rest = () => Promise.resolve();

/** `read` and `clock` (milliseconds) are replaced by tests. */
export function openSpareCpu(read: () => CpuTime = readCpuTime, clock: () => number = () => performance.now()): Rest {
  let share = 1;
  let before = read();
  let readAt = clock();

  /** The share halves in a window without idle time, and grows in a window with it: what is idle is used, not more. */
  function adapt(): void {
    if (clock() - readAt < windowMs) return;
    const now = read();
    const idle = (now.idle - before.idle) / Math.max(1, now.all - before.all);
    share = idle < idleOfBusy ? Math.max(smallestShare, share / 2) : Math.min(1, share * 1.5);
    before = now;
    readAt = clock();
  }

  return async (workedMs, stopping) => {
    adapt();
    const ms = Math.min(longestRestMs, workedMs * (1 / share - 1));
    if (ms >= 1) await sleep(ms, undefined, { signal: stopping }).catch(() => {});
  };
}
