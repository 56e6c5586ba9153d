import { embedded } from './limiter-embedded.ts';
import { memory } from './limiter-memory.ts';
import { redis } from './limiter-redis.ts';
import { stall } from './limiter-stall.ts';
import { type RedisServer, startRedis } from './redis-server.ts';
import type { Section } from './report.ts';

const onRedis = {
  redis: (server: RedisServer, seconds: number) => redis(server, seconds),
  stall: (server: RedisServer) => stall(server),
} as const;
export const limiterParts = ['embedded', 'memory', 'redis', 'stall'] as const;
export type LimiterPart = (typeof limiterParts)[number];

/** Measures the limiter in one process, its memory, on Redis, and during a stop of Redis. */
export async function limiter(options: { seconds: number; only?: LimiterPart | undefined }): Promise<Section[]> {
  const wanted = options.only ? [options.only] : limiterParts;
  const sections: Section[] = [];
  for (const part of wanted) {
    if (part === 'embedded') sections.push(...(await embedded(options.seconds)));
    else if (part === 'memory') sections.push(...(await memory()));
    else {
      const server = await startRedis();
      if (!server) {
        sections.push({ title: part, rows: [], notes: ['neither redis-server nor valkey-server is installed'] });
        continue;
      }
      sections.push(...(await onRedis[part](server, options.seconds)));
      await server.stop();
    }
  }
  return sections;
}
