import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../observability/log.ts';

/** Work that a worker process repeats in short intervals. Jobs are for single pieces of work, crons for intervals of minutes. */
export type Loop = {
  /** Used in the log: `runtime.events`. */
  readonly name: string;
  /** The pause between two runs. */
  readonly everyMs: number;
  /** Does all the work that is due. `stopping` aborts when the process stops: begin no further work. */
  readonly run: (stopping: AbortSignal) => Promise<unknown>;
};

/** The longest pause after failed runs. */
const longestPauseMs = 10_000;

async function repeat({ name, everyMs, run }: Loop, log: Log, stopping: AbortSignal): Promise<void> {
  let failures = 0;
  while (!stopping.aborted) {
    try {
      await run(stopping);
      if (failures > 0) log.info({ loop: name }, 'a loop of the worker works again');
      failures = 0;
    } catch (error) {
      failures += 1;
      if (failures === 1) log.warn({ err: error, loop: name }, 'a loop of the worker failed and is repeated');
    }
    const pause = failures === 0 ? everyMs : Math.min(everyMs * 2 ** failures, longestPauseMs);
    await sleep(pause, undefined, { signal: stopping }).catch(() => {});
  }
}

/** Runs these loops until `stop`, which waits for the running work. */
export function startLoops(loops: readonly Loop[], log: Log): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const running = Promise.all(loops.map((loop) => repeat(loop, log, stopping.signal)));
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
