import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';

/** Why a run ended. */
export type Ended = 'duration' | 'max_requests' | 'stopped' | 'log_full';

export type PaceOptions = {
  readonly durationMs: number;
  /** Requests per second; null is without a limit. */
  readonly rate: number | null;
  readonly maxRequests: number;
  /** Ends the run early. */
  readonly signal: AbortSignal;
};

/** Decides how many requests a run may send, and when it ends. */
export type Pace = {
  readonly elapsedMs: number;
  readonly remainingMs: number;
  readonly ended: Ended | null;
  /** Takes permission for up to `most` requests. Returns how many may be sent now. */
  take(most: number): number;
  end(reason: Ended): void;
};

export function openPace({ durationMs, rate, maxRequests, signal }: PaceOptions): Pace {
  const startedAt = performance.now();
  let sent = 0;
  let ended: Ended | null = null;
  let endedAt = 0;
  const end = (reason: Ended) => {
    if (ended !== null) return;
    ended = reason;
    endedAt = performance.now();
  };
  const elapsed = () => (ended === null ? performance.now() : endedAt) - startedAt;
  return {
    get elapsedMs() {
      return elapsed();
    },
    get remainingMs() {
      return Math.max(0, durationMs - elapsed());
    },
    get ended() {
      if (signal.aborted) end('stopped');
      else if (elapsed() >= durationMs) end('duration');
      return ended;
    },
    take(most) {
      const allowed = rate === null ? maxRequests : Math.min(maxRequests, Math.ceil((elapsed() * rate) / 1_000));
      const count = Math.max(0, Math.min(most, allowed - sent));
      sent += count;
      if (count === 0 && sent >= maxRequests) end('max_requests');
      return count;
    },
    end,
  };
}

/** After this many synchronous answers a worker lets the other workers and the timers run. */
const maxSynchronous = 256;

/** Runs `concurrency` workers, each with one request at a time. `sendOne` never rejects. */
export async function runWorkers(
  pace: Pace,
  concurrency: number,
  sendOne: () => undefined | Promise<void>,
): Promise<void> {
  const work = async () => {
    let synchronous = 0;
    while (pace.ended === null) {
      if (pace.take(1) === 0) {
        await sleep(1);
        continue;
      }
      const running = sendOne();
      if (running) {
        synchronous = 0;
        await running;
      } else {
        synchronous += 1;
        if (synchronous % maxSynchronous === 0) await nextIteration();
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}
