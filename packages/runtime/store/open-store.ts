import type { Log } from '../observability/log.ts';
import { openMemoryStore } from './memory-store.ts';
import type { Store } from './store.ts';

/** Opens the store on Redis or Valkey when an address is given, otherwise the in-process store of a single instance. */
export async function openStore(redisUrl: string | undefined, log: Log): Promise<Store> {
  if (!redisUrl) return openMemoryStore();
  // Loaded here: the Redis client is a quarter of all modules of the program.
  const { openRedisStore } = await import('./redis-store.ts');
  return openRedisStore(redisUrl, log);
}
