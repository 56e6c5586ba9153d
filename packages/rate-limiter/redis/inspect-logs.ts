import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyRef, KeyUsage } from '../limits.ts';
import type { LimiterConnection } from './limiter-connection.ts';
import type { Script } from './limiter-script.ts';
import { logNameOf } from './store-check.ts';

/** Redis did not answer `inspect` or `reset` in time, or answered with an error. */
export class LimiterStoreError extends Error {
  override name = 'LimiterStoreError';
}

/** The longest wait for an answer to `inspect` and `reset`. */
const answerMs = 3_000;
const inTime = async <T>(answer: Promise<T>): Promise<T> => {
  const late = sleep(answerMs, undefined, { ref: false }).then(() => {
    throw new Error(`no answer within ${answerMs} ms`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([answer, late]);
  } catch (error) {
    throw new LimiterStoreError((error as Error).message, { cause: error });
  }
};

export async function inspectLog(
  deps: { connection: LimiterConnection; script: Script; windowMs: number; clockArgs: () => string[] },
  name: string,
): Promise<KeyUsage> {
  const { connection, script, windowMs, clockArgs } = deps;
  const answer = await inTime(connection.run(script, [name], [String(windowMs), ...clockArgs()]));
  const [now, requests, tokens, oldest] = answer as [number, number, number, number];
  return { requests, tokens, oldestLeavesMs: oldest < 0 ? null : oldest + windowMs - now };
}

/** Removes one log, or all logs. Returns how many it removed. */
export async function removeLogs(connection: LimiterConnection, prefix: string, only?: KeyRef): Promise<number> {
  if (only) return inTime(connection.unlink([logNameOf(prefix, only)]));
  let count = 0;
  const pages = connection.scan(prefix)[Symbol.asyncIterator]();
  for (let page = await inTime(pages.next()); !page.done; page = await inTime(pages.next()))
    count += await inTime(connection.unlink(page.value));
  return count;
}
