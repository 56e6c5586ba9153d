import { runJob } from './child.ts';
import type { MemoryJob, MemoryResult } from './limiter-memory-job.ts';
import { progress, type Row, type Section } from './report.ts';

const users = 100_000;
const cases = [
  { what: 'embedded: full logs of user and token', ours: true, all: false },
  { what: 'embedded: with 4,096 addresses and 8 models', ours: true, all: true },
  { what: 'rate-limiter-flexible: all seven counters', ours: false, all: true },
] as const;

/** Bytes per user with 60 requests a minute, measured as growth of the process. */
export async function memory(): Promise<Section[]> {
  const rows: Row[] = [];
  for (const { what, ours, all } of cases) {
    const job: MemoryJob = { ours, all, users };
    const result = await runJob<MemoryResult>('limiter-memory-job.ts', job, {
      limitSeconds: 180,
      // One collector thread: with several threads V8 itself needs 90 MB.
      execArgv: ['--expose-gc', '--single-threaded-gc', '--max-semi-space-size=1'],
    });
    progress(`${what}: ${Math.round(result.resident)} bytes`);
    rows.push({
      what,
      'resident bytes/user': result.resident,
      'of it JS heap': result.heap,
      'arrays reserved MB': result.reserved,
    });
  }
  return [
    {
      title: `memory of ${users.toLocaleString('en')} users at 60 requests/minute`,
      rows,
      notes: [
        'embedded: 60 entries in the log of each user and of each token, spread over the minute (checked)',
        'arrays are reserved at once and touched as keys come: resident is what counts',
        'rate-limiter-flexible keeps one count per window and dimension, from which the exact waiting time cannot be derived',
      ],
    },
  ];
}
