import { serviceErrors } from '@tradepost/core';

export type ConcurrencyLimit = {
  /**
   * Waits for a slot. Resolves with false when the queue is full, or when `signal` aborts the wait. Call `release` once
   * after each true.
   */
  acquire(signal?: AbortSignal): Promise<boolean>;
  release(): void;
};

/** At most `active` calls have a slot at once, first in, first out. At most `queued` calls wait. */
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
        const cancel = () => settle(false);
        const settle = (granted: boolean) => {
          queue.delete(settle);
          signal?.removeEventListener('abort', cancel);
          resolve(granted);
        };
        queue.add(settle);
        signal?.addEventListener('abort', cancel);
      });
    },
    release() {
      const [next] = queue;
      if (next) next(true);
      else free += 1;
    },
  };
}

/** Runs the work when a slot is free. Throws 503 when the queue is full. */
export async function withSlot<T>(limit: ConcurrencyLimit, work: () => Promise<T>): Promise<T> {
  if (!(await limit.acquire())) throw serviceErrors.busy();
  try {
    return await work();
  } finally {
    limit.release();
  }
}
