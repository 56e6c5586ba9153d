import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds since the start: CPU time of all cores of the machine, and times of the event loop of this process. */
type Times = { readonly idle: number; readonly all: number; readonly loopIdle: number; readonly loopAll: number };

/** The machine is busy when less than this part of its CPU time was idle: requests come in bursts, and PostgreSQL waits for its disk. */
const idleOfBusy = 0.25;
/** The process is busy when its event loop was idle for less than this part of the time. It has one core, however many are idle. */
const idleOfBusyLoop = 0.15;
const windowMs = 250;
/** The part of the time that background work may take on a machine that stays busy. */
const smallestShare = 0.05;
const longestRestMs = 2_000;

function readTimes(): Times {
  const loop = performance.eventLoopUtilization();
  let [idle, all] = [0, 0];
  for (const { times } of cpus()) {
    idle += times.idle;
    all += times.idle + times.user + times.nice + times.sys + times.irq;
  }
  return { idle, all, loopIdle: loop.idle, loopAll: loop.idle + loop.active };
}

/**
 * Waits after a piece of background work. With idle CPU time it returns at once. On a busy machine it waits so long that such work
 * takes a twentieth of the time, and requests get the rest. `workedMs`: the time of the work.
 */
export type Rest = (workedMs: number, stopping: AbortSignal) => Promise<void>;

/** For work that must not wait for others: a command, or a test. */
export const noRest: Rest = () => Promise.resolve();

/** `read` and `clock` (milliseconds) are replaced by tests. */
export function openSpareCpu(read: () => Times = readTimes, clock: () => number = () => performance.now()): Rest {
  let share = 1;
  let before = read();
  let readAt = clock();

  /** The share halves in a window without idle time, and grows in a window with it: what is idle is used, not more. */
  function adapt(): void {
    if (clock() - readAt < windowMs) return;
    const now = read();
    const idle = (now.idle - before.idle) / Math.max(1, now.all - before.all);
    const loopIdle = (now.loopIdle - before.loopIdle) / Math.max(1, now.loopAll - before.loopAll);
    const isBusy = idle < idleOfBusy || loopIdle < idleOfBusyLoop;
    share = isBusy ? Math.max(smallestShare, share / 2) : Math.min(1, share * 1.5);
    before = now;
    readAt = clock();
  }

  return async (workedMs, stopping) => {
    adapt();
    const ms = Math.min(longestRestMs, workedMs * (1 / share - 1));
    if (ms >= 1) await sleep(ms, undefined, { signal: stopping }).catch(() => {});
  };
}
