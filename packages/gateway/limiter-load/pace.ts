import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';

/** Why a run ended. */
export type Ended = 'duration' | 'max_requests' | 'stopped' | 'log_full';

export type PaceOptions = {
  readonly durationMs: number;
  /** Requests per second; null: as many as can be. */
  readonly rate: number | null;
  readonly maxRequests: number;
  /** Ends the run early. */
  readonly signal: AbortSignal;
};

/** How long a run goes on, and how many requests may be sent by now. */
export type Pace = {
  readonly elapsedMs: number;
  readonly remainingMs: number;
  readonly ended: Ended | null;
  /** How many of `most` may be sent now. */
  take(most: number): number;
  end(why: Ended): void;
};

export function openPace({ durationMs, rate, maxRequests, signal }: PaceOptions): Pace {
  const startedAt = performance.now();
  let sent = 0;
  let ended: Ended | null = null;
  let endedAt = 0;
  const end = (why: Ended) => {
    if (ended !== null) return;
    ended = why;
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

/** Requests that were answered without waiting, until the other workers and the timers get a turn. */
const mostInARow = 256;

/** `concurrency` workers, each with one request after the other; `one` rejects never. */
export async function runWorkers(pace: Pace, concurrency: number, one: () => undefined | Promise<void>): Promise<void> {
  const work = async () => {
    let inARow = 0;
    while (pace.ended === null) {
      if (pace.take(1) === 0) {
        await sleep(1);
        continue;
      }
      const waiting = one();
      if (waiting) {
        inARow = 0;
        await waiting;
      } else {
        inARow += 1;
        if (inARow % mostInARow === 0) await turn();
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}
