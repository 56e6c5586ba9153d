import { exitCodes } from './output.ts';

const parentPollMs = 500;

/**
 * Aborts when this process must end: on SIGINT, on SIGTERM, and when the npm or npx that started it has ended, because they
 * do not pass signals on. `onStop` gets the reason. A second signal ends the process at once. Call `release` when the
 * process continues with other work. Also aborts when no process reads its standard output any more, as in `... | head -1`; not with
 * `isServer`: a server runs on without its terminal.
 */
export function stopSignal(
  onStop?: (reason: string) => void,
  { isServer = false }: { isServer?: boolean } = {},
): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const parent = process.ppid;
  let signalled = false;
  const abort = (reason: string) => {
    if (controller.signal.aborted) return;
    controller.abort();
    onStop?.(reason);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    if (signalled) process.exit(exitCodes.failed);
    signalled = true;
    abort(signal);
  };
  const onOutputError = (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' && !isServer) abort('the output is closed');
  };
  process.stdout.on('error', onOutputError);
  const watch = process.env.npm_command
    ? setInterval(() => process.ppid !== parent && abort('the parent process has ended'), parentPollMs).unref()
    : undefined;
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return {
    signal: controller.signal,
    release() {
      clearInterval(watch);
      process.stdout.off('error', onOutputError);
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
