export type ConcurrencyLimit = {
  /** Waits for a slot; false when the queue is full, or when `signal` ended the wait. Each true needs one `release`. */
  acquire(signal?: AbortSignal): Promise<boolean>;
  release(): void;
};

/** At most `active` at once, in the order of asking; at most `queued` wait. */
export function createConcurrencyLimit({ active, queued }: { active: number; queued: number }): ConcurrencyLimit {
  let free = active;
  const queue = new Set<(granted: boolean) => void>();
  return {
    acquire(signal) {
      if (free > 0) {
        free -= 1;
        return Promise.resolve(true);
      }
      if (queue.size >= queued || signal?.aborted) return Promise.resolve(false);
      return new Promise((resolve) => {
        const leave = () => settle(false);
        const settle = (granted: boolean) => {
          queue.delete(settle);
          signal?.removeEventListener('abort', leave);
          resolve(granted);
        };
        queue.add(settle);
        signal?.addEventListener('abort', leave);
      });
    },
    release() {
      const [next] = queue;
      if (next) next(true);
      else free += 1;
    },
  };
}
