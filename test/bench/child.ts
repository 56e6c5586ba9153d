import { fork } from 'node:child_process';
import { join } from 'node:path';
import { defer } from '@tradepost/testing/processes/cleanup';

type Told = { event: string } | { result: unknown } | { failed: string };

/** Runs a file of this folder that calls `takeJob` in a process of its own, and answers its result. */
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
      limit = setTimeout(() => reject(new Error(`${file} does not end`)), options.limitSeconds * 1000);
      child.on('message', (message) => {
        const told = message as Told;
        if ('event' in told) options.onEvent?.(told.event);
        else if ('result' in told) resolve(told.result as Result);
        else reject(new Error(`${file}: ${told.failed}`));
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

export const tell = (event: string): void => void process.send?.({ event } satisfies Told);

/** In the child: does the one job it is given. */
export function takeJob<Job, Result>(work: (job: Job) => Promise<Result>): void {
  process.once('message', (job) => {
    work(job as Job).then(
      (result) => process.send?.({ result } satisfies Told),
      (error: unknown) =>
        process.send?.({ failed: error instanceof Error ? error.stack! : String(error) } satisfies Told),
    );
  });
  // The bench is gone: nobody waits for the result.
  process.once('disconnect', () => process.exit());
}
