import { runJob } from './child.ts';
import type { Phase, StallJob, StallResult } from './limiter-stall-job.ts';
import type { RedisServer } from './redis-server.ts';
import { progress, type Row, type Section } from './report.ts';

const perSecond = 2_000;
const deadlineMs = 50;
const allowanceMs = 5;

const rowOf = (phase: string, of: Phase): Row => ({
  phase,
  checks: of.checks,
  admitted: of.admitted,
  refused: of.refused,
  'unchecked: timeout': of.unchecked.timeout ?? 0,
  'unchecked: breaker open': of.unchecked.open ?? 0,
  'unchecked: error': of.unchecked.error ?? 0,
  'p50 ms': of.p50,
  'p99 ms': of.p99,
  'p99.9 ms': of.p999,
  'max ms': of.max,
});

/** Stops Redis for five seconds while its connection stays open. */
export async function stall(server: RedisServer): Promise<Section[]> {
  const job: StallJob = { url: server.url, pid: server.pid, perSecond, deadlineMs };
  const { of, all } = await runJob<StallResult>('limiter-stall-job.ts', job, { limitSeconds: 60 });
  progress(`stalled: p99 ${of.stalled.p99.toFixed(1)} ms`);
  const refusedBefore = of.before.refused / of.before.checks;
  const refusedAfter = of.after.refused / of.after.checks;
  const broken = [
    of.stalled.p99 > deadlineMs + allowanceMs && `p99 while stalled is over ${deadlineMs + allowanceMs} ms`,
    of.before.refused === 0 && 'no request was refused before the stall',
    refusedAfter < refusedBefore / 2 && 'those beyond their limit were not refused again after the stall',
  ].filter(Boolean);
  return [
    {
      title: `Redis stopped for 5 s under ${perSecond.toLocaleString('en')} checks/s, deadline ${deadlineMs} ms`,
      rows: [
        rowOf('before', of.before),
        rowOf('stalled', of.stalled),
        rowOf('after', of.after),
        rowOf('all', { ...all, unchecked: sumOf([of.before, of.stalled, of.after]) }),
        { phase: 'p99 while stalled / (deadline + 5 ms)', 'p99 ms': of.stalled.p99 / (deadlineMs + allowanceMs) },
        { phase: 'refused share, after / before', refused: refusedAfter / refusedBefore },
      ],
      notes: ['one check in five is of a user beyond its 60 requests/minute, every second another such user'],
      broken: broken.length > 0 ? broken.join('; ') : undefined,
    },
  ];
}

function sumOf(phases: readonly Phase[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { unchecked } of phases)
    for (const [why, count] of Object.entries(unchecked)) sums[why] = (sums[why] ?? 0) + count;
  return sums;
}
