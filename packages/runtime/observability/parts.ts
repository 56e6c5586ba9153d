import { setTimeout as sleep } from 'node:timers/promises';

/** The state of one part of a process. `error` is for operators only: it can name hosts. */
export type PartState = { name: string; ok: boolean; ms: number; error: string | null };

/** The parts that a process needs to work, each with its check. */
export type Parts = {
  /** Adds a part. Its check throws or rejects when the part does not work. */
  add(name: string, check: () => unknown): void;
  /** Runs the checks of all parts. Calls that arrive meanwhile get the same result. */
  check(): Promise<PartState[]>;
};

const longestError = 300;

async function stateOf(name: string, check: () => unknown, timeoutMs: number): Promise<PartState> {
  const started = performance.now();
  const state = (error: string | null): PartState => ({
    ...{ name, ok: error === null, ms: Math.round(performance.now() - started) },
    error,
  });
  const ended = new AbortController();
  const late = sleep(timeoutMs, `no answer within ${timeoutMs} ms`, { ref: false, signal: ended.signal }).catch(
    () => null,
  );
  const checked = (async () => check())().then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)).slice(0, longestError) || 'failed',
  );
  const error = await Promise.race([checked, late]);
  ended.abort();
  return state(error);
}

export function openParts(timeoutMs: number): Parts {
  const checks = new Map<string, () => unknown>();
  let running: Promise<PartState[]> | null = null;
  return {
    add: (name, check) => void checks.set(name, check),
    check() {
      running ??= Promise.all([...checks].map(([name, check]) => stateOf(name, check, timeoutMs))).finally(() => {
        running = null;
      });
      return running;
    },
  };
}
