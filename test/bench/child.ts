import { fork } from 'node:child_process';
import { join } from 'node:path';
import { defer } from '@tradepost/testing/processes/cleanup';

type ChildMessage = { event: string } | { result: unknown } | { failed: string };

/** Runs a file of this folder in its own process and returns the result. The file calls `takeJob`. */
export async function runJob<Result>(
  file: string,
  job: unknown,
  options: { limitSeconds: number; execArgv?: string[]; onEvent?: (event: string) => void },
): Promise<Result> {
  const child = fork(join(import.meta.dirname, file), {
    serialization: 'advanced',
    execArgv: options.execArgv ?? [],
  });
  let released = false;
  const release = defer(async () => {
    released = true;
    child.kill('SIGKILL');
  });
  let limit: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Result>((resolve, reject) => {
      limit = setTimeout(() => reject(new Error(`${file} has not ended in time`)), options.limitSeconds * 1000);
      child.on('message', (message) => {
        const received = message as ChildMessage;
        if ('event' in received) options.onEvent?.(received.event);
        else if ('result' in received) resolve(received.result as Result);
        else reject(new Error(`${file}: ${received.failed}`));
      });
      child.on('error', reject);
      child.on('exit', (code, signal) => released || reject(new Error(`${file} ended with ${code ?? signal}`)));
      child.send(job as object);
    });
  } finally {
    clearTimeout(limit);
    await release();
  }
}

export const sendEvent = (event: string): void => void process.send?.({ event } satisfies ChildMessage);

/** In the child: runs the job that the parent sends. */
export function takeJob<Job, Result>(work: (job: Job) => Promise<Result>): void {
  process.once('message', (job) => {
    work(job as Job).then(
      (result) => process.send?.({ result } satisfies ChildMessage),
      (error: unknown) =>
        process.send?.({ failed: error instanceof Error ? error.stack! : String(error) } satisfies ChildMessage),
    );
  });
  // The parent has ended, so no process waits for the result.
  process.once('disconnect', () => process.exit());
}
