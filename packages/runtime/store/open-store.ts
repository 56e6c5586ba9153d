import type { Log } from '../observability/log.ts';
import { openMemoryStore } from './memory-store.ts';
import { openRedisStore } from './redis-store.ts';
import type { Store } from './store.ts';

/** Redis or Valkey when there is an address, else the in-process store of a single instance. */
export function openStore(redisUrl: string | undefined, log: Log): Promise<Store> {
  return redisUrl ? openRedisStore(redisUrl, log) : Promise.resolve(openMemoryStore());
}
