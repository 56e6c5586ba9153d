/** A call that waits for an answer. `miss` is called at `until`. It is null when the call has ended. */
export type Waiting = { until: number; miss: (() => void) | null };

/** Ends calls at their deadlines. All calls share one timer. It is set only while a call waits. */
export class Deadlines {
  readonly #waiting: Waiting[] = [];
  #head = 0;
  #timer: NodeJS.Timeout | null = null;

  add(call: Waiting): void {
    this.#waiting.push(call);
    if (this.#timer === null) this.#arm();
  }

  #arm(): void {
    const waiting = this.#waiting;
    while (this.#head < waiting.length && waiting[this.#head]!.miss === null) this.#head += 1;
    if (this.#head === waiting.length) {
      waiting.length = 0;
      this.#head = 0;
      return;
    }
    if (this.#head > 1_024 && this.#head * 2 > waiting.length) {
      waiting.splice(0, this.#head);
      this.#head = 0;
    }
    // Answers that wait in the socket are read first. A busy process must not count its own delay as the store's.
    const inMs = Math.max(0, waiting[this.#head]!.until - performance.now());
    this.#timer = setTimeout(() => setImmediate(() => this.#expire()), inMs);
  }

  #expire(): void {
    this.#timer = null;
    const now = performance.now();
    const waiting = this.#waiting;
    for (
      ;
      this.#head < waiting.length && (waiting[this.#head]!.miss === null || waiting[this.#head]!.until <= now);
      this.#head += 1
    )
      waiting[this.#head]!.miss?.();
    this.#arm();
  }
}
