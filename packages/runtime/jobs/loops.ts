import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../observability/log.ts';
import { openSpareCpu, type Rest } from './spare-cpu.ts';

/** Work that a worker process repeats in short intervals. Jobs are for single pieces of work, crons for intervals of minutes. */
export type Loop = {
  /** Used in the log: `runtime.events`. */
  readonly name: string;
  /** The pause between two runs. */
  readonly everyMs: number;
  /**
   * Does all the work that is due. `stopping` aborts when the process stops: begin no further work. Call `rest` between two
   * pieces of work that can wait.
   */
  readonly run: (stopping: AbortSignal, rest: Rest) => Promise<unknown>;
};

/** The longest pause after failed runs. */
const longestPauseMs = 10_000;

type Repeated = { readonly log: Log; readonly rest: Rest; readonly stopping: AbortSignal };

async function repeat({ name, everyMs, run }: Loop, { log, rest, stopping }: Repeated): Promise<void> {
  let failures = 0;
  while (!stopping.aborted) {
    try {
      await run(stopping, rest);
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
  const repeated = { log, rest: openSpareCpu(), stopping: stopping.signal };
  const running = Promise.all(loops.map((loop) => repeat(loop, repeated)));
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
