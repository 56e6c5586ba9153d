import type { BodyBudget } from './body-budget.ts';
import { type ArrivingBody, type BodyFault, BodyStreamError } from './body-stream.ts';

/**
 * The transport stops reading a body when this many bytes of it are held: received bytes, and the chunk that the handler
 * works on. What the kernel has received by then may exceed it (`uws/read-turns.ts`).
 */
export const MAX_HELD = 64 * 1024;
/** A body may take the body timeout and the time for its size at this rate, in bytes per second. */
const MIN_UPLOAD_RATE = 64 * 1024;
/** Shorter than the time after which uWS may cut a slow body. */
const TICK_MS = 4000;

/** What the transport does with the connection of a body. */
type Flow = {
  pause(): void;
  /** `holds`: the bytes that arrive will be held. Otherwise it resumes at once. */
  resume(holds: boolean): void;
  /** True while the connection waits for its turn to be read again. The client is not late then. */
  isQueued(): boolean;
  /** Starts the timeout of the transport again. It has none while it is paused. */
  keepAlive(): void;
};

type Options = {
  budget: BodyBudget;
  flow: Flow;
  /** Content-Type. */
  type: string;
  /** The declared length, or -1. */
  declared: number;
  limit: number;
  /** The longest time without a byte. */
  timeoutMs: number;
};

type Result = IteratorResult<Uint8Array, undefined>;
const END: Result = { done: true, value: undefined };
const EMPTY: Buffer = Buffer.alloc(0);
/** Small chunks share a buffer of this size: a million one-byte chunks as objects would need far more than their bytes. */
const PIECE = 16 * 1024;

/**
 * A body between its transport and its handler. The time in which the handler lets the client wait does not count
 * against the client.
 */
export class IncomingBody implements ArrivingBody {
  readonly type: string;
  readonly length: number | null;
  readonly limit: number;
  error: BodyStreamError | null = null;
  /** True when the transport has received the whole body. */
  complete = false;
  readonly #budget: BodyBudget;
  readonly #flow: Flow;
  readonly #timeoutMs: number;
  /** Bytes that wait for the handler, in buffers that take no more. */
  #full: Buffer[] = [];
  /** The last bytes that wait: `#used` of them in this buffer. */
  #tail = EMPTY;
  #used = 0;
  /** The size of the buffers that wait. */
  #stored = 0;
  /** The size of the chunk that the handler works on. */
  #lent = 0;
  /** Bytes that the budget counts for this body. */
  #counted = 0;
  #received = 0;
  #waiting: { resolve: (result: Result) => void; reject: (error: Error) => void } | null = null;
  #read = false;
  /** The handler reads no more. */
  #dropped = false;
  /** The request has ended; its connection must not be touched. */
  #ended = false;
  #paused = false;
  #pausedAt = 0;
  #stalledAt: number;
  #lateAt: number;
  #timer: NodeJS.Timeout | undefined;
  #onComplete: (() => void) | null = null;

  constructor({ budget, flow, type, declared, limit, timeoutMs }: Options) {
    this.type = type;
    this.length = declared < 0 ? null : declared;
    this.limit = limit;
    this.#budget = budget;
    this.#flow = flow;
    this.#timeoutMs = timeoutMs;
    const now = performance.now();
    this.#stalledAt = now + timeoutMs;
    this.#lateAt = this.#stalledAt + (Math.min(limit, this.length ?? limit) / MIN_UPLOAD_RATE) * 1000;
    this.#timer = setTimeout(this.#tick, Math.min(timeoutMs, TICK_MS));
  }

  /** Checks the declared length and the memory before the body arrives. Returns 0, or the status of the refusal. */
  check(): 0 | 413 | 503 {
    if ((this.length ?? 0) > this.limit) this.fail('too_large');
    else if (!this.#budget.fits(0, Math.min(this.length ?? MAX_HELD, MAX_HELD))) this.fail('no_memory');
    return this.error === null ? 0 : this.error.fault === 'too_large' ? 413 : 503;
  }

  /** Takes received bytes. They are copied. */
  receive(chunk: Uint8Array): void {
    if (this.error !== null || this.#ended || this.#onComplete !== null) return;
    this.#received += chunk.byteLength;
    if (this.#received > this.limit) {
      this.fail('too_large');
      return;
    }
    this.#stalledAt = performance.now() + this.#timeoutMs;
    if (chunk.byteLength === 0 || this.#dropped) return;
    if (!this.#append(chunk)) {
      this.fail('no_memory');
      return;
    }
    this.#waiting?.resolve({ done: false, value: this.#take() });
    this.#waiting = null;
    if (this.#counted >= MAX_HELD) this.#pause();
  }

  /** The whole body has been received. */
  end(): void {
    if (this.complete) return;
    this.complete = true;
    clearTimeout(this.#timer);
    this.#waiting?.resolve(END);
    this.#waiting = null;
    this.#onComplete?.();
  }

  /**
   * Reads the connection again, before the answer: another request may follow. Not earlier, because uWS would start a
   * timeout that cuts a slow handler.
   */
  reopen(): void {
    if (!this.complete || this.#ended) return;
    this.#paused = false;
    this.#flow.resume(false);
  }

  /** The connection is read again after it was queued. */
  restart(): void {
    this.#stalledAt = performance.now() + this.#timeoutMs;
    this.#lateAt = Math.max(this.#lateAt, this.#stalledAt);
  }

  /** The most bytes that can still arrive. */
  get remaining(): number {
    return (this.length ?? this.limit) - this.#received;
  }

  /** The body does not arrive completely: the iteration rejects. Nothing is read until `discard`. */
  fail(fault: BodyFault): void {
    if (this.complete || this.error !== null || this.#ended) return;
    this.error = new BodyStreamError(fault, this.limit);
    if (fault === 'too_large' || fault === 'no_memory') this.#budget.refused[fault]++;
    this.#stop();
    if (fault === 'aborted') this.release();
    else this.#pause();
  }

  /** Discards what still arrives, after the answer. Calls `then` when nothing more arrives, or after `ms`. */
  discard(ms: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#stop();
    const once = (): void => {
      clearTimeout(this.#timer);
      this.#onComplete = () => {};
      then();
    };
    this.#onComplete = once;
    this.#timer = setTimeout(once, ms);
    // Not `#resume`: the connection may be waiting for its turn.
    this.#paused = false;
    if (!this.#ended) this.#flow.resume(false);
  }

  /** The request has ended. Releases the memory. It may be called twice. */
  release(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#lent = 0;
    this.#stop();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    if (this.#read) throw new TypeError('The body of a request can be read once');
    this.#read = true;
    return {
      next: () => this.#next(),
      return: async () => {
        this.#dropped = true;
        this.#lent = 0;
        this.#drop();
        this.#resume();
        this.#waiting?.resolve(END);
        this.#waiting = null;
        return END;
      },
    };
  }

  async #next(): Promise<Result> {
    this.#lent = 0;
    this.#count();
    if (this.error !== null) throw this.error;
    if (this.#counted < MAX_HELD) this.#resume();
    if (this.#used > 0) return { done: false, value: this.#take() };
    if (this.complete || this.#dropped) return END;
    if (this.#ended) throw new BodyStreamError('aborted', this.limit);
    if (this.#waiting !== null) throw new TypeError('The next chunk of a body is being awaited already');
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  #append(chunk: Uint8Array): boolean {
    if (this.#used + chunk.byteLength > this.#tail.byteLength) {
      const room = this.#waiting === null ? Math.max(chunk.byteLength, PIECE) : chunk.byteLength;
      if (!this.#budget.fits(this.#counted, this.#counted + room)) return false;
      if (this.#used > 0) this.#full.push(this.#tail.subarray(0, this.#used));
      this.#tail = Buffer.allocUnsafeSlow(room);
      this.#used = 0;
      this.#stored += room;
      this.#count();
    }
    this.#tail.set(chunk, this.#used);
    this.#used += chunk.byteLength;
    return true;
  }

  /** The first bytes that wait, as the chunk that the handler works on. */
  #take(): Uint8Array {
    let chunk = this.#full.shift();
    if (chunk === undefined) {
      chunk = this.#tail.subarray(0, this.#used);
      this.#tail = EMPTY;
      this.#used = 0;
    }
    this.#lent = chunk.buffer.byteLength;
    this.#stored -= this.#lent;
    return chunk;
  }

  #drop(): void {
    this.#full = [];
    this.#tail = EMPTY;
    this.#used = 0;
    this.#stored = 0;
    this.#count();
  }

  #count(): void {
    const held = this.#lent + this.#stored;
    this.#budget.resize(this.#counted, held);
    this.#counted = held;
  }

  /** Nothing more is handed over. */
  #stop(): void {
    this.#drop();
    this.#waiting?.reject(this.error ?? new BodyStreamError('aborted', this.limit));
    this.#waiting = null;
  }

  #pause(): void {
    if (this.#paused || this.#ended || this.complete) return;
    this.#paused = true;
    this.#pausedAt = performance.now();
    this.#flow.pause();
  }

  #resume(): void {
    if (!this.#paused || this.#ended || this.complete) return;
    this.#paused = false;
    const paused = performance.now() - this.#pausedAt;
    this.#stalledAt += paused;
    this.#lateAt += paused;
    this.#flow.resume(!this.#dropped);
  }

  #tick = (): void => {
    let left = TICK_MS;
    if (!this.#paused && !this.#flow.isQueued()) {
      left = Math.min(this.#stalledAt, this.#lateAt) - performance.now();
      if (left <= 0) {
        this.fail('timeout');
        left = TICK_MS;
      } else this.#flow.keepAlive();
    }
    this.#timer = setTimeout(this.#tick, Math.min(left, TICK_MS));
  };
}
