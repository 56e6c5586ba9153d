import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLargeBodies } from '../../packages/gateway/proxy/large-bodies.ts';
import { costlyBodies, hostileBodies } from '../../packages/gateway/testing/hostile-bodies.ts';
import { takeJob } from './child.ts';

/** `naiveTimes` is the number of bodies for the naive way, which is many times slower. Its delay does not depend on the number. */
export type BodiesJob = { bytes: number; times: number; naiveTimes: number };
export type Delay = { body: string; way: string; p50: number; p99: number; max: number; totalMs: number };

/** The naive way: each body is parsed at once, in one event-loop iteration. */
async function parseAtOnce(body: Buffer, times: number): Promise<void> {
  const parsing = Array.from(
    { length: times },
    () => new Promise<void>((resolve) => setImmediate(() => resolve(void JSON.parse(body.toString('utf8'))))),
  );
  await Promise.all(parsing);
}

async function readInSteps(body: Buffer, times: number): Promise<void> {
  const read = openLargeBodies();
  // The parsed body is released, as after its tokens are counted.
  await Promise.all(Array.from({ length: times }, () => read('chat/completions', body, () => false).then(() => {})));
}

const idle = async (): Promise<void> => void (await sleep(1_000));

async function measured(name: string, way: string, work: () => Promise<void>): Promise<Delay> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  // The monitor measures from its first iteration.
  await sleep(20);
  const started = performance.now();
  await work();
  const totalMs = performance.now() - started;
  // One more iteration, so that the last delay is counted.
  await sleep(5);
  delay.disable();
  const ms = (nanoseconds: number) => nanoseconds / 1e6;
  return {
    ...{ body: name, way, totalMs },
    ...{ p50: ms(delay.percentile(50)), p99: ms(delay.percentile(99)), max: ms(delay.max) },
  };
}

takeJob(async ({ bytes, times, naiveTimes }: BodiesJob): Promise<Delay[]> => {
  const all = Object.entries({ ...hostileBodies(bytes), ...costlyBodies(bytes) });
  for (const [, body] of all) await readInSteps(body, 1);
  const delays = [await measured('none', 'idle', idle)];
  for (const [name, body] of all) {
    delays.push(await measured(name, 'parsed at once', () => parseAtOnce(body, naiveTimes)));
    delays.push(await measured(name, 'in steps', () => readInSteps(body, times)));
  }
  return delays;
});
