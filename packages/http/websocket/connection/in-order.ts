type Job = () => void | Promise<void>;
type Failed = (error: unknown) => void;
type Entry = { job: Job; failed: Failed };

/**
 * Runs jobs one after the other. A synchronous job needs no promise. `watch` is notified of jobs that return a promise.
 */
export class InOrder {
  #waiting: Entry[] = [];
  #busy = false;
  #watch: { began(): void; ended(): void };

  constructor(watch: { began(): void; ended(): void }) {
    this.#watch = watch;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(job: Job, failed: Failed): void {
    if (this.#busy) this.#waiting.push({ job, failed });
    else this.#run({ job, failed });
  }

  /** Removes the jobs that have not started. */
  clear(): void {
    this.#waiting = [];
  }

  #run(first: Entry): void {
    this.#busy = true;
    for (let entry: Entry | undefined = first; entry; entry = this.#waiting.shift()) {
      const { job, failed } = entry;
      try {
        const result = job();
        if (result instanceof Promise) {
          this.#watch.began();
          result.catch(failed).finally(() => {
            this.#watch.ended();
            this.#busy = false;
            const next = this.#waiting.shift();
            if (next) this.#run(next);
          });
          return;
        }
      } catch (error) {
        failed(error);
      }
    }
    this.#busy = false;
  }
}
