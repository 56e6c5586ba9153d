import { setTimeout as sleep } from 'node:timers/promises';
import { openRedisLimiter } from '@tradepost/rate-limiter';
import { openLog } from '@tradepost/runtime';
import { takeJob } from './child.ts';
import { newHistogram } from './histogram.ts';
import { mixes } from './limiter-traffic.ts';

export const phases = ['before', 'stalled', 'after'] as const;
export type StallJob = { url: string; pid: number; perSecond: number; deadlineMs: number };
export type Phase = {
  checks: number;
  admitted: number;
  refused: number;
  /** Requests that were admitted without a check, by reason. */
  unchecked: Record<string, number>;
  p50: number;
  p99: number;
  p999: number;
  max: number;
};
export type StallResult = { of: Record<(typeof phases)[number], Phase>; all: Omit<Phase, 'unchecked'> };

const stallFrom = 3;
const stallTo = 8;
const endAt = 12;
/** One of this number of requests belongs to a user far above the limit. Each second it is another user. */
const greedyOneIn = 5;
const limits = { ...mixes.defaults, ip_rpm: mixes.admitted.ip_rpm };

function newCounts() {
  const microseconds = newHistogram();
  const counts = { checks: 0, admitted: 0, refused: 0, unchecked: {} as Record<string, number> };
  const result = (): Phase => {
    const [p50, p99, p999] = [0.5, 0.99, 0.999].map((q) => microseconds.quantile(q)) as [number, number, number];
    return { ...counts, p50, p99, p999, max: microseconds.max() };
  };
  return { microseconds, counts, result };
}

takeJob(async ({ url, pid, perSecond, deadlineMs }: StallJob): Promise<StallResult> => {
  const log = openLog({ level: 'silent' });
  const limiter = openRedisLimiter({ urls: [url], log, deadlineMs: () => deadlineMs });
  await limiter.ready();
  const phase = { before: newCounts(), stalled: newCounts(), after: newCounts() };
  const all = newCounts();
  const open = new Set<Promise<void>>();
  let n = 0;

  async function one(second: number): Promise<void> {
    // A check counts for the phase in which it starts.
    const into = phase[second < stallFrom ? 'before' : second < stallTo ? 'stalled' : 'after'];
    n++;
    const user = n % greedyOneIn === 0 ? 1_000_000 + Math.floor(second) : n;
    const began = performance.now();
    const verdict = await limiter.check({ user, token: user, ip: `10.0.${n & 255}`, model: 'bench' }, limits, 10);
    const took = Math.round((performance.now() - began) * 1000);
    for (const { microseconds, counts } of [into, all]) {
      microseconds.record(took);
      counts.checks++;
      if (!verdict.admitted) counts.refused++;
      else if (verdict.unchecked) counts.unchecked[verdict.unchecked] = (counts.unchecked[verdict.unchecked] ?? 0) + 1;
      else counts.admitted++;
    }
  }

  // Warm-up of compilers and the connection.
  for (let i = 0; i < 2_000; i++) await limiter.check({ user: i, token: i, ip: '10.9.9', model: 'bench' }, limits, 10);
  await limiter.reset();
  const began = performance.now();
  let stalled = false;
  let resumed = false;
  let sent = 0;
  for (;;) {
    const second = (performance.now() - began) / 1000;
    if (second >= endAt) break;
    if (!stalled && second >= stallFrom) {
      process.kill(pid, 'SIGSTOP');
      stalled = true;
    }
    if (!resumed && second >= stallTo) {
      process.kill(pid, 'SIGCONT');
      resumed = true;
    }
    for (const due = Math.floor(second * perSecond); sent < due; sent++) {
      const checking = one(second);
      open.add(checking);
      void checking.finally(() => open.delete(checking));
    }
    await sleep(1);
  }
  await Promise.all(open);
  await limiter.close();
  const results = { before: phase.before.result(), stalled: phase.stalled.result(), after: phase.after.result() };
  return { of: results, all: all.result() };
});
