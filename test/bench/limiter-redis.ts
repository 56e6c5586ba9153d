import { runJob } from './child.ts';
import { peerNote } from './limiter-peer.ts';
import type { Contender, RedisJob, RedisResult } from './limiter-redis-job.ts';
import { about } from './limiter-traffic.ts';
import type { RedisServer } from './redis-server.ts';
import { mean, progress, type Row, type Section } from './report.ts';
import { cpuSeconds } from './usage.ts';

const order = ['bare EVALSHA', 'ours', 'ours, a call per check', 'rate-limiter-flexible'] as const;
const rounds = 2;
type Measured = RedisResult & { redisCpu: number | null };

async function measureTurn(server: RedisServer, job: RedisJob): Promise<Measured> {
  const cpuAt: Record<string, number | null> = {};
  const result = await runJob<RedisResult>('limiter-redis-job.ts', job, {
    limitSeconds: job.seconds + 60,
    onEvent: (edge) => {
      cpuAt[edge] = cpuSeconds(server.pid);
    },
  });
  const { begin, end } = cpuAt;
  const redisCpu = begin == null || end == null ? null : ((end - begin) / result.checks) * 1e6;
  progress(`${job.concurrency} callers, ${job.contender}: ${Math.round(result.perSecond)} checks/s`);
  return { ...result, redisCpu };
}

/** Measures the limiters in turn, each time with a new process and an empty Redis. */
async function atConcurrency(server: RedisServer, concurrency: number, seconds: number): Promise<Section> {
  const turns: { contender: Contender; result: Measured }[] = [];
  for (let round = 0; round < rounds; round++)
    for (const contender of order) {
      const job: RedisJob = { contender, url: server.url, concurrency, warmupSeconds: 2, seconds };
      turns.push({ contender, result: await measureTurn(server, job) });
    }
  const of = (contender: Contender, field: 'perSecond' | 'p50' | 'p99' | 'calls') =>
    mean(turns.filter((turn) => turn.contender === contender).map(({ result }) => result[field]));
  const ratio = (title: string, one: Contender, other: Contender): Row => ({
    limiter: title,
    'checks/s': of(one, 'perSecond') / of(other, 'perSecond'),
    'p50 ms': of(one, 'p50') / of(other, 'p50'),
    'p99 ms': of(one, 'p99') / of(other, 'p99'),
  });
  const [bare, ours, single, peer] = order;
  return {
    title: `seven dimensions on ${server.version}, ${concurrency} concurrent callers in one process`,
    rows: [
      ...turns.map(
        ({ contender, result }): Row => ({
          limiter: contender,
          'checks/s': result.perSecond,
          'p50 ms': result.p50,
          'p99 ms': result.p99,
          'max ms': result.max,
          'calls/check': result.calls,
          'client CPU us': result.cpu,
          'Redis CPU us': result.redisCpu,
        }),
      ),
      ratio('ours / bare EVALSHA', ours, bare),
      ratio('a call per check / bare EVALSHA', single, bare),
      ratio('ours / rate-limiter-flexible', ours, peer),
      ratio('a call per check / rate-limiter-flexible', single, peer),
    ],
    notes: [
      `ours: checks of one turn of the event loop share a call of the script, ${(1 / of(ours, 'calls')).toFixed(1)} on average`,
      'bare: EVALSHA of `return 1` per check with its keys and arguments; all through @redis/client on one connection',
      about,
      peerNote,
    ],
  };
}

export async function redis(server: RedisServer, seconds: number): Promise<Section[]> {
  return [await atConcurrency(server, 128, seconds), await atConcurrency(server, 512, seconds)];
}
