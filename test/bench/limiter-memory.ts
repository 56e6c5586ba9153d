import { runJob } from './child.ts';
import type { MemoryJob, MemoryResult } from './limiter-memory-job.ts';
import { progress, type Row, type Section } from './report.ts';

const users = 100_000;
const cases = [
  { what: 'embedded: full logs of user and token', ours: true, all: false },
  { what: 'embedded: with 4,096 addresses and 8 models', ours: true, all: true },
  { what: 'rate-limiter-flexible: all seven counters', ours: false, all: true },
] as const;

/** Bytes of a user that uses up 60 requests a minute, measured from outside the limiter: what the process came to hold. */
export async function memory(): Promise<Section[]> {
  const rows: Row[] = [];
  for (const { what, ours, all } of cases) {
    const job: MemoryJob = { ours, all, users };
    const result = await runJob<MemoryResult>('limiter-memory-job.ts', job, {
      limitSeconds: 180,
      // What V8 keeps for its own garbage is not the limiter's: with several threads that is 90 MB.
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
        'rate-limiter-flexible keeps one count per window and dimension, from which no exact wait can be told',
      ],
    },
  ];
}
