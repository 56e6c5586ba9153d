export type Turns = {
  /** Waits for a place; false when there is no room to wait, or `signal` has ended the wait. */
  take(signal: AbortSignal): Promise<boolean>;
  give(): void;
};

/** At most `places` at once, in the order of asking, and at most `waiting` who wait. */
export function openTurns(places: number, waiting: number): Turns {
  let free = places;
  const line = new Set<(granted: boolean) => void>();
  return {
    take(signal) {
      if (free > 0) {
        free -= 1;
        return Promise.resolve(true);
      }
      if (line.size >= waiting || signal.aborted) return Promise.resolve(false);
      return new Promise((resolve) => {
        const leave = () => settle(false);
        const settle = (granted: boolean) => {
          line.delete(settle);
          signal.removeEventListener('abort', leave);
          resolve(granted);
        };
        line.add(settle);
        signal.addEventListener('abort', leave);
      });
    },
    give() {
      const [next] = line;
      if (next) next(true);
      else free += 1;
    },
  };
}
