const idsPerCall = 100;
/** Product pages share the connections with the reservations of orders. */
const callsAtOnce = 4;

/** Ids of one call; `settle` ends the waiting of the callers. */
export type Batch = { ids: Set<number>; done: Promise<void>; settle: () => void };

/**
 * Collects the ids of one tick of the event loop into calls of at most 100. An id that is being asked for is not asked for
 * twice. Callers wait no longer than `deadlineMs`. `ask` makes the call and never rejects.
 */
export function openBatches(ask: (batch: Batch) => Promise<void>, deadlineMs: number) {
  const underWay = new Map<number, Batch>();
  const waiting: Batch[] = [];
  let running = 0;

  function pump(): void {
    while (running < callsAtOnce && waiting.length > 0) {
      const batch = waiting.shift()!;
      running += 1;
      void ask(batch).finally(() => {
        running -= 1;
        batch.settle();
        pump();
      });
    }
  }

  function openBatch(): Batch {
    const { promise, resolve } = Promise.withResolvers<void>();
    const settle = () => {
      clearTimeout(timer);
      for (const id of batch.ids) if (underWay.get(id) === batch) underWay.delete(id);
      resolve();
    };
    const batch: Batch = { ids: new Set(), done: promise, settle };
    // A caller with thousands of ids may miss the deadline without a fault of the partner: only `ask` counts failures.
    const timer = setTimeout(() => {
      if (waiting.includes(batch)) waiting.splice(waiting.indexOf(batch), 1);
      settle();
    }, deadlineMs);
    waiting.push(batch);
    setImmediate(pump);
    return batch;
  }

  /** The batch that asks for this SKU. */
  function batchOf(id: number): Batch {
    const found = underWay.get(id);
    if (found) return found;
    const last = waiting.at(-1);
    const batch = last && last.ids.size < idsPerCall ? last : openBatch();
    batch.ids.add(id);
    underWay.set(id, batch);
    return batch;
  }

  return {
    batchOf,
    /** Ends the waiting for calls that have not begun. */
    settleWaiting(): void {
      for (const batch of waiting.splice(0)) batch.settle();
    },
  };
}
