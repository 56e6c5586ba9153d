import { setTimeout as sleep } from 'node:timers/promises';
import { openEmbeddedLimiter } from '@tradepost/rate-limiter';
import { takeJob } from './child.ts';
import { peerInMemory } from './limiter-peer.ts';
import { addressOf, mixes, modelOf } from './limiter-traffic.ts';

export type MemoryJob = { ours: boolean; all: boolean; users: number };
export type MemoryResult = {
  /** Bytes per user. */
  resident: number;
  heap: number;
  /** Megabytes of typed arrays, touched or not. */
  reserved: number;
};

/** The default limits of the shop, fully used. */
const perWindow = 60;
/** Longer than the first window, so that old entries have been replaced. */
const rounds = 90;
const roundMs = 1_000;
const subjectOf = (user: number, n: number) => ({ user, token: user, ip: addressOf(user), model: modelOf(user + n) });

const settle = async () => {
  for (let i = 0; i < 3; i++) {
    globalThis.gc!();
    await sleep(100);
  }
};

takeJob(async ({ ours, all, users }: MemoryJob): Promise<MemoryResult> => {
  const { ip_rpm, model_rpm, model_tpm } = mixes.admitted;
  const others = all ? { ip_rpm, model_rpm, model_tpm } : { ip_rpm: 0, model_rpm: 0, model_tpm: 0 };
  const limits = { ...mixes.defaults, ...others };
  await settle();
  const before = process.memoryUsage();
  let held: unknown;
  if (ours) {
    let now = 1_000_000;
    const limiter = openEmbeddedLimiter({ memoryMb: 256, now: () => now });
    for (let round = 0; round < rounds; round++)
      for (let user = 0; user < users; user++) {
        now = 1_000_000 + round * roundMs + Math.floor((user / users) * roundMs);
        const verdict = limiter.check(subjectOf(user, round), limits, 1_500);
        if (!verdict.admitted) throw new Error(`user ${user} is refused in round ${round}`);
      }
    for (const kind of ['user', 'token'] as const)
      for (let user = 0; user < users; user += 997) {
        const { requests } = await limiter.inspect({ kind, key: String(user), user });
        if (requests !== perWindow) throw new Error(`the log of ${kind} ${user} has ${requests} entries`);
      }
    if (limiter.evicted > 0) throw new Error(`${limiter.evicted} keys were given up`);
    held = limiter;
  } else {
    const check = peerInMemory(limits, 3_600);
    // Its counters do not grow with the number of requests.
    for (let round = 0; round < 2; round++)
      for (let user = 0; user < users; user++) await check(subjectOf(user, round), 1_500);
    held = check;
  }
  await settle();
  const after = process.memoryUsage();
  if (!held) throw new Error('unreachable');
  const result = {
    resident: (after.rss - before.rss) / users,
    heap: (after.heapUsed - before.heapUsed) / users,
    reserved: (after.arrayBuffers - before.arrayBuffers) / 2 ** 20,
  };
  if (ours) await (held as { close(): Promise<void> }).close();
  return result;
});
