import pLimit from 'p-limit';

const idsPerCall = 100;
/** The limit is low, because the reservations of orders use the same connections. */
const callsAtOnce = 4;

/** The SKU ids of one call. `settle` resolves `done`, for which the callers wait. */
export type Batch = { ids: Set<number>; done: Promise<void>; settle: () => void };

/**
 * Collects the ids of one event-loop iteration into calls of at most 100 ids. An id that a call already asks for is not
 * requested again. Callers wait no longer than `deadlineMs`. `ask` makes the call and never rejects.
 */
export function openBatches(ask: (batch: Batch) => Promise<void>, deadlineMs: number) {
  const limit = pLimit(callsAtOnce);
  const underWay = new Map<number, Batch>();
  /** Batches whose call has not begun. */
  const waiting = new Set<Batch>();
  let newest: Batch | undefined;

  async function call(batch: Batch): Promise<void> {
    // A batch that was settled while it waited has no callers left, so its call is not made.
    if (!waiting.delete(batch)) return;
    await ask(batch);
    batch.settle();
  }

  function openBatch(): Batch {
    const { promise, resolve } = Promise.withResolvers<void>();
    const settle = () => {
      clearTimeout(timer);
      waiting.delete(batch);
      for (const id of batch.ids) if (underWay.get(id) === batch) underWay.delete(id);
      resolve();
    };
    const batch: Batch = { ids: new Set(), done: promise, settle };
    // A caller with thousands of ids can miss the deadline without a fault of the partner: only `ask` counts failures.
    const timer = setTimeout(settle, deadlineMs);
    waiting.add(batch);
    setImmediate(() => void limit(() => call(batch)));
    newest = batch;
    return batch;
  }

  /** The batch that asks for this SKU. */
  function batchOf(id: number): Batch {
    const found = underWay.get(id);
    if (found) return found;
    const hasSpace = newest !== undefined && waiting.has(newest) && newest.ids.size < idsPerCall;
    const batch = newest && hasSpace ? newest : openBatch();
    batch.ids.add(id);
    underWay.set(id, batch);
    return batch;
  }

  return {
    batchOf,
    /** Resolves the batches whose calls have not begun, so that their callers stop waiting. */
    settleWaiting(): void {
      for (const batch of waiting) batch.settle();
    },
  };
}
