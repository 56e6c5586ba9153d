import { runJob } from './child.ts';
import type { BodiesJob, Delay } from './gateway-bodies-job.ts';
import { progress, type Section } from './report.ts';

const bytes = 8 * 1024 * 1024;
const times = 60;
const naiveTimes = 4;

/** Measures event-loop delay while 60 bodies of 8 MB that are expensive to parse are read. */
export async function gatewayBodies(): Promise<Section[]> {
  const job: BodiesJob = { bytes, times, naiveTimes };
  const delays = await runJob<Delay[]>('gateway-bodies-job.ts', job, { limitSeconds: 540 });
  const of = (way: string) => delays.filter((each) => each.way === way);
  const idle = of('idle')[0]!;
  progress(`idle: p99 ${idle.p99.toFixed(1)} ms`);
  const rows = of('parsed at once').map((naive) => {
    const ours = of('in steps').find(({ body }) => body === naive.body)!;
    return {
      body: naive.body,
      'parsed: p99 ms': naive.p99,
      'parsed: max ms': naive.max,
      'parsed: ms each': naive.totalMs / naiveTimes,
      'in steps: p99 ms': ours.p99,
      'in steps: max ms': ours.max,
      'in steps: ms each': ours.totalMs / times,
      'p99 ratio': naive.p99 / ours.p99,
    };
  });
  return [
    {
      title: `${times} bodies of 8 MB at once: delay of the event loop`,
      rows,
      notes: [
        `idle loop: p99 ${idle.p99.toFixed(1)} ms, max ${idle.max.toFixed(1)} ms`,
        'the last five are within the bounds: parsed and read in both ways',
      ],
    },
  ];
}
