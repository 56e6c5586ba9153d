import type { BodyBudget } from '../body-budget.ts';

/** The bytes that the kernel may have received for a connection that was not read. */
const BURST = 6 * 1024 * 1024;
/** A client that sends little keeps the memory of its turn for this long: nothing has gathered for it. */
const TURN_MS = 250;
const RETRY_MS = 20;

/**
 * Calls `read` when there is memory for the burst that may follow: at most `most` bytes. `read` gets the function that
 * ends the turn, for when the connection is paused again.
 */
export type ReadTurns = (most: number, read: (end: () => void) => void) => void;

/**
 * When a connection is read again after a pause, uWS hands over at once what the kernel has received meanwhile, also when
 * it is paused in between. Many connections that are read again at the same moment would exceed the memory for bodies. So
 * each waits until there is room for its burst.
 */
export const openReadTurns = (budget: BodyBudget): ReadTurns => {
  const waiting: { bytes: number; read: (end: () => void) => void }[] = [];
  let reserved = 0;
  let retry: NodeJS.Timeout | undefined;
  const begin = (bytes: number, read: (end: () => void) => void): void => {
    reserved += bytes;
    let ended = false;
    const end = (): void => {
      if (ended) return;
      ended = true;
      clearTimeout(late);
      reserved -= bytes;
      next();
    };
    const late = setTimeout(end, TURN_MS);
    read(end);
  };
  const next = (): void => {
    clearTimeout(retry);
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      if (!budget.fits(0, reserved + first.bytes)) {
        retry = setTimeout(next, RETRY_MS);
        return;
      }
      waiting.shift();
      begin(first.bytes, first.read);
    }
  };
  return (most, read) => {
    waiting.push({ bytes: Math.min(most, BURST, budget.large / 2), read });
    if (waiting.length === 1) next();
  };
};
