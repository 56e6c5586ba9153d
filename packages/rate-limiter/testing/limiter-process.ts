import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLog } from '@tradepost/runtime';
import type { Limits, Subject, Verdict } from '../limits.ts';
import { openRedisLimiter } from '../redis/redis-limiter.ts';

/**
 * A process that uses the limiter: it checks keys that other processes check too, and records the verdicts. Started with
 * `node limiter-process.ts '<job>'`. It prints `ready`, begins with the first input on standard input, and ends by itself.
 */
export type Job = {
  readonly urls: readonly string[];
  readonly prefix: string;
  readonly windowMs: number;
  readonly durationMs: number;
  readonly seed: number;
  readonly limits: Limits;
  /** One JSON line per event is appended here. */
  readonly file: string;
};
/** Times are of the clock of this machine, which the server also uses. One line is written before the call, one after the answer. */
export type SentCheck = {
  readonly id: string;
  readonly sentAt: number;
  readonly subject: Subject;
  readonly tokens: number;
};
export type AnsweredCheck = {
  readonly id: string;
  readonly answeredAt: number;
  readonly verdict: Verdict;
  /** Answered from the cache at `sentAt`, without the store. */
  readonly cached: boolean;
};

const lanes = 10;

function randomNumbers(seed: number): (below: number) => number {
  let state = seed % 2_147_483_647 || 1;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

async function work(job: Job): Promise<void> {
  const out = openSync(job.file, 'a');
  const write = (line: SentCheck | AnsweredCheck) => writeSync(out, `${JSON.stringify(line)}\n`);
  let hits = 0;
  const limiter = openRedisLimiter({
    ...{ urls: job.urls, prefix: job.prefix, windowMs: job.windowMs },
    log: openLog({ level: 'silent' }),
    deadlineMs: () => 10_000,
    onCacheHit: () => {
      hits += 1;
    },
  });
  await limiter.ready();
  process.stdout.write('ready\n');
  await once(process.stdin, 'data');
  const random = randomNumbers(job.seed);
  const until = performance.now() + job.durationMs;
  let count = 0;
  const lane = async () => {
    while (performance.now() < until) {
      const user = 1 + random(3);
      const subject: Subject = {
        user,
        token: user * 10 + random(2),
        ip: random(8) === 0 ? null : ['10.0.0', '10.0.1'][random(2)]!,
        model: random(8) === 0 ? null : ['small', 'large'][random(2)]!,
      };
      const tokens = [0, 1, 5, 20, 20, 60][random(6)]!;
      count += 1;
      const id = `${job.seed} ${count}`;
      const sentAt = Date.now();
      write({ id, sentAt, subject, tokens });
      const before = hits;
      const answer = limiter.check(subject, job.limits, tokens);
      const cached = hits > before;
      const verdict = await answer;
      write({ id, answeredAt: Date.now(), verdict, cached });
      await sleep(random(4));
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  await limiter.close();
  closeSync(out);
}

await work(JSON.parse(process.argv[2]!) as Job);
process.exit(0);
