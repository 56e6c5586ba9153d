import type { BodyBudget } from '../body-budget.ts';

/** The bytes that the kernel may have received for a connection that was not read. */
const BURST = 6 * 1024 * 1024;
const RETRY_MS = 20;

/** Calls `read` when there is memory for the burst that may follow: at most `most` bytes. */
export type ReadTurns = (most: number, read: () => void) => void;

/**
 * When a connection is read again after a pause, uWS hands over at once what the kernel has received meanwhile, also when
 * it is paused in between. Many connections that are read again at the same moment would exceed the memory for bodies. So
 * each waits until there is room for its burst.
 */
export const openReadTurns = (budget: BodyBudget): ReadTurns => {
  const waiting: { bytes: number; read: () => void }[] = [];
  let reserved = 0;
  let timer: NodeJS.Timeout | undefined;
  const next = (): void => {
    clearTimeout(timer);
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      const { bytes, read } = first;
      if (!budget.fits(0, reserved + bytes)) {
        timer = setTimeout(next, RETRY_MS);
        return;
      }
      waiting.shift();
      reserved += bytes;
      read();
      // The burst arrives in the next poll phase of the event loop. Then the bytes count themselves.
      setImmediate(() =>
        setImmediate(() => {
          reserved -= bytes;
        }),
      );
    }
  };
  return (most, read) => {
    waiting.push({ bytes: Math.min(most, BURST, budget.large / 2), read });
    if (waiting.length === 1) next();
  };
};
