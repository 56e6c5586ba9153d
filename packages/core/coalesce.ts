import { serviceErrors } from './service-errors.ts';

export type CoalesceOptions = {
  /** Calls in one batch; 1 switches grouping off. */
  maxBatch?: number;
  /** Batches running at once. */
  maxInFlight?: number;
  /** What a running batch gets before a further one starts beside it, unless that would be a full one. */
  patienceMs?: number;
  /** Calls waiting before new ones are refused with 503: a flash sale must not fill the memory. */
  maxQueue?: number;
  /** Called with the size of every batch that starts. */
  onBatch?: (size: number) => void;
  /** Whether a failed batch is known to have changed nothing: its calls are then repeated one by one. Default: never. */
  isUndone?: (error: unknown) => boolean;
  /** The error that callers get for a failed batch. Default: the error itself. */
  errorFor?: (error: unknown) => unknown;
};

export type Coalesced<I, O> = {
  (item: I): Promise<O>;
  /** Refuses new calls, runs what is queued, resolves when the last batch has ended. */
  drain(): Promise<void>;
};

/**
 * Turns concurrent single calls into calls with arrays. A call is queued; the queue is flushed in the next iteration of the
 * event loop, so an idle process adds no delay. Calls that arrive while a batch runs form the next batch. A further batch
 * starts beside a running one only when it is full or when the running one takes longer than `patienceMs`: two half
 * batches cost more than one whole batch. `runMany` answers in the order of its items: a value, or an Error that only
 * that caller gets.
 */
export function coalesce<I, O>(
  runMany: (items: readonly I[]) => Promise<readonly (O | Error)[]>,
  options: CoalesceOptions = {},
): Coalesced<I, O> {
  const { maxBatch = 100, maxInFlight = 3, patienceMs = 25, maxQueue = 10_000, onBatch } = options;
  const { isUndone = () => false, errorFor = (error: unknown) => error } = options;
  type Call = { item: I; resolve: (value: O) => void; reject: (error: unknown) => void };
  let queue: Call[] = [];
  let inFlight = 0;
  let lastStart = 0;
  let scheduled = false;
  let recheck: NodeJS.Timeout | null = null;
  let stopping = false;
  let drained: (() => void)[] = [];

  function settle(call: Call, outcome: O | Error | undefined): void {
    if (outcome instanceof Error) call.reject(outcome);
    else call.resolve(outcome as O);
  }

  async function run(calls: readonly Call[]): Promise<void> {
    onBatch?.(calls.length);
    try {
      const outcomes = await runMany(calls.map((call) => call.item));
      if (outcomes.length !== calls.length)
        throw new Error(`runMany answered ${outcomes.length} outcomes for ${calls.length} items`);
      for (let i = 0; i < calls.length; i++) settle(calls[i]!, outcomes[i]);
    } catch (error) {
      if (calls.length > 1 && isUndone(error)) {
        for (const call of calls) await run([call]);
        return;
      }
      const reason = errorFor(error);
      for (const call of calls) call.reject(reason);
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
      recheck ??= setTimeout(() => {
        recheck = null;
        flush();
      }, left);
      return;
    }
    start();
    // Not in the same iteration: a server that reads two batches at once answers the first when it has done both.
    if (queue.length > 0 && inFlight < maxInFlight) schedule();
  }

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(flush);
  }

  const call = (item: I): Promise<O> => {
    if (stopping) return Promise.reject(serviceErrors.stopping());
    if (queue.length >= maxQueue) return Promise.reject(serviceErrors.busy());
    return new Promise<O>((resolve, reject) => {
      queue.push({ item, resolve, reject });
      if (inFlight < maxInFlight && (!recheck || queue.length >= maxBatch)) schedule();
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
