import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { openRedisLimiter } from '@tradepost/rate-limiter';
import { openLog } from '@tradepost/runtime';
import { sendEvent, takeJob } from './child.ts';
import { newHistogram } from './histogram.ts';
import { peerOnRedis } from './limiter-peer.ts';
import { mixes, openTraffic } from './limiter-traffic.ts';

export const contenders = ['bare EVALSHA', 'ours', 'ours, a call per check', 'rate-limiter-flexible'] as const;
export type Contender = (typeof contenders)[number];
export type RedisJob = {
  contender: Contender;
  url: string;
  concurrency: number;
  warmupSeconds: number;
  seconds: number;
};
export type RedisResult = {
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  max: number;
  /** Calls of scripts per check. */
  calls: number;
  checks: number;
  /** CPU microseconds of this process per check. */
  cpu: number;
};

const limits = mixes.admitted;
const openClient = async (url: string) => {
  const client = createClient({ url });
  await client.connect();
  return client;
};

/** The check of one request. Throws when the check was skipped or refused. */
type Check = (n: number) => Promise<void>;
type Opened = { check: Check; close(): Promise<void> };

const traffic = openTraffic();

/** A script with the keys and arguments of a check and no work. It measures the round trip to Redis. */
async function openBare(url: string): Promise<Opened> {
  const client = await openClient(url);
  const source = 'return 1';
  const sha = createHash('sha1').update(source).digest('hex');
  await client.scriptLoad(source);
  const { user_rpm, ip_rpm, model_rpm } = limits;
  const ends = `,${user_rpm},${user_rpm},${user_rpm},${user_rpm},${ip_rpm},0,${model_rpm},${model_rpm}`;
  return {
    async check(n) {
      const { user, token, ip, model } = traffic.subject(n);
      const prefix = 'tradepost:limit:';
      const keys = [
        `${prefix}{u${user}}`,
        `${prefix}{u${user}}:t${token}`,
        `${prefix}{i:${ip}}`,
        `${prefix}{m:${model}}`,
      ];
      await client.sendCommand(['EVALSHA', sha, '4', ...keys, `[60000${ends},${traffic.cost(n)},4,1,2,3,4]`]);
    },
    close: async () => client.destroy(),
  };
}

async function openOurs(url: string, batching: { maxBatch?: number }): Promise<Opened> {
  // A long deadline, so that no check is skipped on a busy machine.
  const log = openLog({ level: 'silent' });
  const limiter = openRedisLimiter({ urls: [url], log, deadlineMs: () => 30_000, ...batching });
  await limiter.ready();
  return {
    async check(n) {
      const verdict = await limiter.check(traffic.subject(n), limits, traffic.cost(n));
      if (!verdict.admitted || verdict.unchecked) throw new Error(`not checked: ${JSON.stringify(verdict)}`);
    },
    close: () => limiter.close(),
  };
}

async function openRival(url: string): Promise<Opened> {
  const client = await openClient(url);
  const peer = peerOnRedis(limits, client);
  return {
    async check(n) {
      if (!(await peer(traffic.subject(n), traffic.cost(n)))) throw new Error('refused');
    },
    close: async () => client.destroy(),
  };
}

const openers: Record<Contender, (url: string) => Promise<Opened>> = {
  'bare EVALSHA': openBare,
  ours: (url) => openOurs(url, {}),
  'ours, a call per check': (url) => openOurs(url, { maxBatch: 1 }),
  'rate-limiter-flexible': openRival,
};

/** Scripts that Redis has run since the last reset of its statistics. */
async function callsOf(client: Awaited<ReturnType<typeof openClient>>): Promise<number> {
  const info = await client.info('commandstats');
  return [...info.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}

takeJob(async (job: RedisJob): Promise<RedisResult> => {
  const control = await openClient(job.url);
  await control.flushAll();
  const { check, close } = await openers[job.contender](job.url);
  const callsBefore = await callsOf(control);
  const microseconds = newHistogram();
  let next = 0;
  let measuring = false;
  let stopping = false;
  const caller = async () => {
    while (!stopping) {
      const began = performance.now();
      await check(next++);
      if (measuring) microseconds.record(Math.round((performance.now() - began) * 1000));
    }
  };
  const callers = Promise.all(Array.from({ length: job.concurrency }, caller));
  // A caller that fails ends the job.
  await Promise.race([sleep(job.warmupSeconds * 1000), callers]);
  const from = { at: performance.now(), cpu: process.cpuUsage() };
  measuring = true;
  sendEvent('begin');
  await Promise.race([sleep(job.seconds * 1000), callers]);
  measuring = false;
  sendEvent('end');
  const seconds = (performance.now() - from.at) / 1000;
  const cpu = process.cpuUsage(from.cpu);
  stopping = true;
  await callers;
  const calls = (await callsOf(control)) - callsBefore;
  await close();
  control.destroy();
  const checks = microseconds.count();
  return {
    perSecond: checks / seconds,
    p50: microseconds.quantile(0.5),
    p99: microseconds.quantile(0.99),
    max: microseconds.max(),
    calls: calls / next,
    checks,
    cpu: (cpu.user + cpu.system) / checks,
  };
});
