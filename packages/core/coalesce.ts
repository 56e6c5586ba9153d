import { serviceErrors } from './service-errors.ts';

export type CoalesceOptions = {
  /** The largest number of calls in one batch. 1 switches batches off. */
  maxBatch?: number;
  /** The largest number of batches that run at once. */
  maxInFlight?: number;
  /** How long a batch runs before another one starts beside it. A full batch does not wait. */
  patienceMs?: number;
  /** The largest number of waiting calls. Beyond it a new call gets 503, so a flash sale cannot fill the memory. */
  maxQueue?: number;
  /** Called with the size of every batch that starts. */
  onBatch?: (size: number) => void;
  /**
   * Whether it is certain that a failed batch changed nothing. Its calls are then repeated one by one. Default: never.
   */
  isUndone?: (error: unknown) => boolean;
  /** Whether this call must be the only one of its batch. Default: never. */
  isAlone?: (item: never) => boolean;
  /** The error that callers get for a failed batch. Default: the error itself. */
  errorFor?: (error: unknown) => unknown;
};

export type Coalesced<I, O> = {
  (item: I): Promise<O>;
  /** Refuses new calls, runs the queued calls, and resolves when the last batch has ended. */
  drain(): Promise<void>;
};

type Call<I, O> = { item: I; resolve: (value: O) => void; reject: (error: unknown) => void };

function settle<O>(call: Pick<Call<never, O>, 'resolve' | 'reject'>, outcome: O | Error | undefined): void {
  if (outcome instanceof Error) call.reject(outcome);
  else call.resolve(outcome as O);
}

/** The queue of calls and the batches that are running. */
class Batches<I, O> {
  readonly #runMany: (items: readonly I[]) => Promise<readonly (O | Error)[]>;
  readonly #maxBatch: number;
  readonly #maxInFlight: number;
  readonly #patienceMs: number;
  readonly #maxQueue: number;
  readonly #onBatch: ((size: number) => void) | undefined;
  readonly #isUndone: (error: unknown) => boolean;
  readonly #errorFor: (error: unknown) => unknown;
  readonly #isAlone: ((item: I) => boolean) | undefined;
  readonly #onIteration = (): void => this.#flush();
  #queue: Call<I, O>[] = [];
  #inFlight = 0;
  #lastStart = 0;
  #scheduled = false;
  #recheck: NodeJS.Timeout | null = null;
  #stopping = false;
  #drained: (() => void)[] = [];

  constructor(runMany: (items: readonly I[]) => Promise<readonly (O | Error)[]>, options: CoalesceOptions) {
    const { maxBatch = 100, maxInFlight = 3, patienceMs = 25, maxQueue = 10_000, onBatch } = options;
    const { isUndone = () => false, errorFor = (error: unknown) => error } = options;
    this.#runMany = runMany;
    this.#maxBatch = maxBatch;
    this.#maxInFlight = maxInFlight;
    this.#patienceMs = patienceMs;
    this.#maxQueue = maxQueue;
    this.#onBatch = onBatch;
    this.#isUndone = isUndone;
    this.#errorFor = errorFor;
    this.#isAlone = options.isAlone as ((item: I) => boolean) | undefined;
  }

  add(item: I): Promise<O> {
    if (this.#stopping) return Promise.reject(serviceErrors.stopping());
    if (this.#queue.length >= this.#maxQueue) return Promise.reject(serviceErrors.busy());
    return new Promise<O>((resolve, reject) => {
      this.#queue.push({ item, resolve, reject });
      if (this.#inFlight < this.#maxInFlight && (!this.#recheck || this.#queue.length >= this.#maxBatch))
        this.#schedule();
    });
  }

  drain(): Promise<void> {
    this.#stopping = true;
    if (this.#queue.length === 0 && this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#drained.push(resolve);
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#onIteration);
  }

  #flush(): void {
    this.#scheduled = false;
    if (this.#queue.length === 0 || this.#inFlight >= this.#maxInFlight) return;
    const left = this.#patienceMs - (performance.now() - this.#lastStart);
    if (this.#inFlight > 0 && this.#queue.length < this.#maxBatch && left > 0) {
      this.#recheck ??= setTimeout(() => {
        this.#recheck = null;
        this.#flush();
      }, left);
      return;
    }
    this.#start();
    // In a later iteration: a server that reads two batches at once sends the first answer after both.
    if (this.#queue.length > 0 && this.#inFlight < this.#maxInFlight) this.#schedule();
  }

  /** The calls of the next batch: up to a call that must be alone. */
  #nextSize(): number {
    if (!this.#isAlone) return this.#maxBatch;
    const end = Math.min(this.#queue.length, this.#maxBatch);
    for (let at = 0; at < end; at += 1) if (this.#isAlone(this.#queue[at]!.item)) return Math.max(at, 1);
    return this.#maxBatch;
  }

  #start(): void {
    const queue = this.#queue;
    const size = this.#nextSize();
    const fits = queue.length <= size;
    const batch = fits ? queue : queue.slice(0, size);
    this.#queue = fits ? [] : queue.slice(size);
    this.#inFlight += 1;
    this.#lastStart = performance.now();
    void this.#run(batch).finally(() => {
      this.#inFlight -= 1;
      if (this.#queue.length > 0) this.#flush();
      else if (this.#inFlight === 0) {
        for (const done of this.#drained) done();
        this.#drained = [];
      }
    });
  }

  async #run(calls: readonly Call<I, O>[]): Promise<void> {
    this.#onBatch?.(calls.length);
    try {
      const outcomes = await this.#runMany(calls.map((call) => call.item));
      if (outcomes.length !== calls.length)
        throw new Error(`runMany returned ${outcomes.length} outcomes for ${calls.length} items`);
      for (let i = 0; i < calls.length; i++) settle(calls[i]!, outcomes[i]);
    } catch (error) {
      if (calls.length > 1 && this.#isUndone(error)) {
        for (const call of calls) await this.#run([call]);
        return;
      }
      const reason = this.#errorFor(error);
      for (const call of calls) call.reject(reason);
    }
  }
}

/**
 * Turns concurrent single calls into calls with arrays. A call is queued, and the queue is flushed in the next
 * iteration of the event loop, so an idle process adds no delay. Calls that arrive while a batch runs form the next
 * batch. Another batch starts beside a running one when it is full, or when the running one takes longer than
 * `patienceMs`: two half batches cost more than one whole batch. `runMany` returns one outcome per item, in the order
 * of the items: a value, or an Error for that caller only.
 */
export function coalesce<I, O>(
  runMany: (items: readonly I[]) => Promise<readonly (O | Error)[]>,
  options: CoalesceOptions = {},
): Coalesced<I, O> {
  const batches = new Batches(runMany, options);
  return Object.assign((item: I) => batches.add(item), { drain: () => batches.drain() });
}
