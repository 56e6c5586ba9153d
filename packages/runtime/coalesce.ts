import { runtimeErrors as errors } from './errors.ts';

export type CoalesceOptions = {
  /** Calls in one batch; 1 switches grouping off. */
  maxBatch?: number;
  /** Batches running at once. */
  maxInFlight?: number;
  /** What a running batch gets before a further one starts beside it, unless that would be a full one. */
  patienceMs?: number;
  /** Calls waiting before new ones are refused with 503: a flash sale must not fill the memory. */
  maxQueue?: number;
  /** Told the size of every batch that starts. */
  onBatch?: (size: number) => void;
};

export type Coalesced<I, O> = {
  (item: I): Promise<O>;
  /** Refuses new calls, runs what is queued, resolves when the last batch has ended. */
  drain(): Promise<void>;
};

/**
 * The server said that a statement failed, so the transaction is known to be rolled back. A lost connection (class 08),
 * an operator's shutdown (57) or a client-side error says nothing about a commit under way: repeating could do it twice.
 */
function certainlyRolledBack(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'PostgresError') return false;
  const state = String((error as { code?: unknown }).code ?? '');
  return /^[0-9A-Z]{5}$/.test(state) && !state.startsWith('08') && !state.startsWith('57');
}

/** Whether the connection went away under a statement: nobody knows what became of it. */
export function lostConnection(error: unknown): boolean {
  const code = String((error as { code?: unknown } | null)?.code ?? '');
  return /^(CONNECT|ECONN|EPIPE|ETIMEDOUT|08|57P)/.test(code);
}

/**
 * Group commit: concurrent single calls become arrays. A call queues; the queue is flushed at the next turn of the event
 * loop, so an idle server adds no delay; what arrives while a batch runs is the next one, so a busy server amortises the
 * commit. A further batch runs beside it only when it is full, or when the running one is held up: two half batches cost
 * more than a whole one. `writeMany` answers in the order of its items: a value, or an Error that only that caller gets. When it throws and the
 * transaction is known to be rolled back, the items are repeated one by one, so that one poisoned call cannot fail its
 * neighbours.
 */
export function coalesce<I, O>(
  writeMany: (items: readonly I[]) => Promise<readonly (O | Error)[]>,
  options: CoalesceOptions = {},
): Coalesced<I, O> {
  const { maxBatch = 100, maxInFlight = 3, patienceMs = 25, maxQueue = 10_000, onBatch } = options;
  type Call = { item: I; resolve: (value: O) => void; reject: (error: unknown) => void };
  let queue: Call[] = [];
  let inFlight = 0;
  let lastStart = 0;
  let scheduled = false;
  let look: NodeJS.Timeout | null = null;
  let stopping = false;
  let drained: (() => void)[] = [];

  function settle(call: Call, outcome: O | Error | undefined): void {
    if (outcome instanceof Error) call.reject(outcome);
    else call.resolve(outcome as O);
  }

  async function run(calls: readonly Call[]): Promise<void> {
    onBatch?.(calls.length);
    try {
      const outcomes = await writeMany(calls.map((call) => call.item));
      if (outcomes.length !== calls.length)
        throw new Error(`writeMany answered ${outcomes.length} outcomes for ${calls.length} items`);
      for (let i = 0; i < calls.length; i++) settle(calls[i]!, outcomes[i]);
    } catch (error) {
      if (calls.length > 1 && certainlyRolledBack(error)) {
        for (const call of calls) await run([call]);
        return;
      }
      const told = lostConnection(error) ? Object.assign(errors.unknown_outcome(), { cause: error }) : error;
      for (const call of calls) call.reject(told);
    }
  }

  function start(): void {
    const batch = queue.length <= maxBatch ? queue : queue.slice(0, maxBatch);
    queue = queue.length <= maxBatch ? [] : queue.slice(maxBatch);
    inFlight += 1;
    lastStart = performance.now();
    void run(batch).finally(() => {
      inFlight -= 1;
      if (queue.length > 0) flush();
      else if (inFlight === 0) {
        for (const done of drained) done();
        drained = [];
      }
    });
  }

  function flush(): void {
    scheduled = false;
    if (queue.length === 0 || inFlight >= maxInFlight) return;
    const left = patienceMs - (performance.now() - lastStart);
    if (inFlight > 0 && queue.length < maxBatch && left > 0) {
      look ??= setTimeout(() => {
        look = null;
        flush();
      }, left);
      return;
    }
    start();
    // Not in the same turn: a server that reads two batches at once answers the first when it has done both.
    if (queue.length > 0 && inFlight < maxInFlight) schedule();
  }

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(flush);
  }

  const call = (item: I): Promise<O> => {
    if (stopping) return Promise.reject(errors.stopping());
    if (queue.length >= maxQueue) return Promise.reject(errors.busy());
    return new Promise<O>((resolve, reject) => {
      queue.push({ item, resolve, reject });
      if (inFlight < maxInFlight && (!look || queue.length >= maxBatch)) schedule();
    });
  };

  const drain = (): Promise<void> => {
    stopping = true;
    if (queue.length === 0 && inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      drained.push(resolve);
    });
  };

  return Object.assign(call, { drain });
}
