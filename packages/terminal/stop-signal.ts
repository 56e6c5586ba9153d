import { exitCodes } from './output.ts';

/**
 * Aborts when this process is asked to end: by SIGINT, SIGTERM, or the end of the npm or npx that started it, as they do not pass
 * signals on. A second signal means now. `release` before the process goes on with something else.
 */
export function stopSignal(): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const parent = process.ppid;
  const stop = () => {
    if (controller.signal.aborted) process.exit(exitCodes.failed);
    controller.abort();
  };
  const watch = process.env.npm_command
    ? setInterval(() => process.ppid !== parent && controller.abort(), 500).unref()
    : undefined;
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, stop);
  return {
    signal: controller.signal,
    release() {
      clearInterval(watch);
      for (const signal of signals) process.off(signal, stop);
    },
  };
}
