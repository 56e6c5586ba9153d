/** Opens pauses. After the simulator has closed, a pause never resolves, so the work behind it does not continue. */
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
