/** Pauses. When the simulator closes, pauses never resolve, so the waiting work is not continued. */
export function openTimers() {
  const timers = new Set<NodeJS.Timeout>();
  let closed = false;
  return {
    pause(ms: number): Promise<void> {
      if (closed) return new Promise(() => {});
      if (ms === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          timers.delete(timer);
          resolve();
        }, ms);
        timers.add(timer);
      });
    },
    close() {
      closed = true;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
export type Timers = ReturnType<typeof openTimers>;
