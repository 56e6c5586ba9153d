import type { Log } from '../observability/log.ts';
import { openMemoryStore } from './memory-store.ts';
import { openRedisStore } from './redis-store.ts';
import type { Store } from './store.ts';

/** Opens the store on Redis or Valkey when an address is given, otherwise the in-process store of a single instance. */
export function openStore(redisUrl: string | undefined, log: Log): Promise<Store> {
  return redisUrl ? openRedisStore(redisUrl, log) : Promise.resolve(openMemoryStore());
}
