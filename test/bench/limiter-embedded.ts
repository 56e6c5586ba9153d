import { runJob } from './child.ts';
import type { EmbeddedJob, EmbeddedResult } from './limiter-embedded-job.ts';
import { peerNote } from './limiter-peer.ts';
import { about, type Mix } from './limiter-traffic.ts';
import { mean, progress, type Row, type Section } from './report.ts';

const scenes = [
  { title: 'all admitted', mix: 'admitted', windowSeconds: 60, warmupSeconds: 2 },
  { title: "the spec's default limits, most refused", mix: 'defaults', windowSeconds: 60, warmupSeconds: 2 },
  // Long enough for entries to expire at the rate at which they are added.
  { title: 'all admitted, window of 3 s', mix: 'admitted', windowSeconds: 3, warmupSeconds: 4 },
] as const satisfies { title: string; mix: Mix; windowSeconds: number; warmupSeconds: number }[];

const names = { ours: 'embedded limiter', theirs: 'rate-limiter-flexible, memory' } as const;

/** Every run has a new process. */
async function measureScene(scene: (typeof scenes)[number], seconds: number): Promise<Section> {
  const turns: { ours: boolean; result: EmbeddedResult }[] = [];
  for (const ours of [true, false, true, false]) {
    const { mix, windowSeconds, warmupSeconds } = scene;
    const job: EmbeddedJob = { ours, mix, windowSeconds, warmupSeconds, seconds };
    const result = await runJob<EmbeddedResult>('limiter-embedded-job.ts', job, { limitSeconds: seconds + 60 });
    progress(`${scene.title}, ${ours ? names.ours : names.theirs}: ${Math.round(result.perSecond)} checks/s`);
    turns.push({ ours, result });
  }
  const of = (ours: boolean, field: keyof EmbeddedResult) =>
    mean(turns.filter((turn) => turn.ours === ours).map(({ result }) => result[field]));
  const rows = turns.map(
    ({ ours, result }): Row => ({
      limiter: ours ? names.ours : names.theirs,
      'checks/s': result.perSecond,
      'CPU us/check': result.cpu,
      'p50 us': result.p50,
      'p99 us': result.p99,
      'max us': result.max,
      admitted: result.admittedShare,
    }),
  );
  rows.push({
    limiter: 'ratio of the means',
    'checks/s': of(true, 'perSecond') / of(false, 'perSecond'),
    'CPU us/check': of(true, 'cpu') / of(false, 'cpu'),
    'p50 us': of(true, 'p50') / of(false, 'p50'),
    'p99 us': of(true, 'p99') / of(false, 'p99'),
  });
  if (scene.mix === 'admitted' && of(true, 'admittedShare') < 0.95)
    throw new Error('the limits are too low for this load');
  if (of(true, 'evicted') > 0) throw new Error('memory ran out: less was checked than the limits say');
  return { title: `seven dimensions in one process, ${scene.title}`, rows, notes: [about, peerNote] };
}

export async function embedded(seconds: number): Promise<Section[]> {
  const sections: Section[] = [];
  for (const scene of scenes) sections.push(await measureScene(scene, seconds));
  return sections;
}
