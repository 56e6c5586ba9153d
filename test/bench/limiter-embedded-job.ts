import { setImmediate as turn } from 'node:timers/promises';
import { openEmbeddedLimiter } from '@tradepost/rate-limiter';
import { takeJob } from './child.ts';
import { newHistogram } from './histogram.ts';
import { peerInMemory } from './limiter-peer.ts';
import { type Mix, mixes, openTraffic } from './limiter-traffic.ts';

export type EmbeddedJob = {
  ours: boolean;
  mix: Mix;
  windowSeconds: number;
  warmupSeconds: number;
  seconds: number;
};
export type EmbeddedResult = {
  perSecond: number;
  /** CPU microseconds of a check, all threads. */
  cpu: number;
  /** Microseconds of single checks, one in 61. */
  p50: number;
  p99: number;
  max: number;
  admittedShare: number;
  evicted: number;
};

const oneIn = 61;
/** Checks before the event loop runs timers again. */
const checksPerIteration = 1_000;

takeJob(async (job: EmbeddedJob): Promise<EmbeddedResult> => {
  const limits = mixes[job.mix];
  const traffic = openTraffic();
  // Reserved, not used. A minute at full speed must fit, otherwise the bench would measure memory.
  const limiter = openEmbeddedLimiter({ memoryMb: 2_048, windowMs: job.windowSeconds * 1000 });
  const peer = peerInMemory(limits, job.windowSeconds);
  const nanoseconds = newHistogram();
  let n = 0;
  let admitted = 0;
  let measuring = false;

  function ours(): void {
    for (const end = n + checksPerIteration; n < end; n++) {
      const sampled = measuring && n % oneIn === 0;
      const began = sampled ? performance.now() : 0;
      const verdict = limiter.check(traffic.subject(n), limits, traffic.cost(n));
      if (sampled) nanoseconds.record(Math.round((performance.now() - began) * 1e6));
      if (verdict.admitted) admitted++;
    }
  }
  async function theirs(): Promise<void> {
    for (const end = n + checksPerIteration; n < end; n++) {
      const sampled = measuring && n % oneIn === 0;
      const began = sampled ? performance.now() : 0;
      const passed = await peer(traffic.subject(n), traffic.cost(n));
      if (sampled) nanoseconds.record(Math.round((performance.now() - began) * 1e6));
      if (passed) admitted++;
    }
  }
  async function run(seconds: number) {
    const until = performance.now() + seconds * 1000;
    while (performance.now() < until) {
      if (job.ours) ours();
      else await theirs();
      await turn();
    }
  }

  await run(job.warmupSeconds);
  measuring = true;
  const before = { n, admitted, at: performance.now(), cpu: process.cpuUsage() };
  await run(job.seconds);
  const cpu = process.cpuUsage(before.cpu);
  const checks = n - before.n;
  const { evicted } = limiter;
  await limiter.close();
  return {
    perSecond: checks / ((performance.now() - before.at) / 1000),
    cpu: (cpu.user + cpu.system) / checks,
    p50: nanoseconds.quantile(0.5),
    p99: nanoseconds.quantile(0.99),
    max: nanoseconds.max(),
    admittedShare: (admitted - before.admitted) / checks,
    evicted,
  };
});
