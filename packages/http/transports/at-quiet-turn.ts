/** A turn of the event loop that was shorter found next to nothing to do. */
const QUIET_MS = 0.1;
const QUIET_TURNS = 3;
/** A busy process closes at last without one. */
const LONGEST_WAIT_MS = 1000;

/**
 * Calls `close` right after turns of the event loop that accepted every connection and had no other work. When a listener closes,
 * the kernel resets the connections that it has not accepted yet. Their clients have sent requests and do not know that no process has
 * read them. So the time between the last acceptance and the close is kept as short as possible.
 */
export const atQuietTurn = (close: () => void): Promise<void> =>
  new Promise((resolve) => {
    const end = performance.now() + LONGEST_WAIT_MS;
    let last = performance.now();
    let quiet = 0;
    const turn = (): void => {
      const now = performance.now();
      quiet = now - last < QUIET_MS ? quiet + 1 : 0;
      last = now;
      if (quiet < QUIET_TURNS && now < end) {
        setImmediate(turn);
        return;
      }
      close();
      resolve();
    };
    setImmediate(turn);
  });
