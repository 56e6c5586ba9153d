import { createClient } from '@redis/client';
import type { Log } from '../observability/log.ts';
import { redisFault } from './redis-fault.ts';
import type { Store } from './store.ts';

/** Sets the expiry only for a new key, so a counter counts a fixed window. One atomic round trip. */
const incrementScript = `
local value = redis.call('incrby', KEYS[1], ARGV[1])
if redis.call('pttl', KEYS[1]) < 0 then redis.call('pexpire', KEYS[1], ARGV[2]) end
return value`;

/** An expired counter is not created again: the new key would have no expiry. */
const decrementScript = `
local value = tonumber(redis.call('get', KEYS[1]) or 0)
if value > 0 then redis.call('decr', KEYS[1]) end`;

/** Rejects when the first connection fails. Later the client reconnects by itself. */
async function connect(url: string, log: Log) {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: {
      connectTimeout: 3_000,
      reconnectStrategy: (retries, cause) =>
        opened || retries < 2 ? Math.min(50 * 2 ** Math.min(retries, 6), 2_000) : cause,
    },
  });
  let down = false;
  let opened = false;
  client.on('error', (error: Error) => {
    // One line per outage, not one per attempt.
    if (opened && !down) log.warn({ err: error }, 'store: Redis connection lost, reconnecting');
    down = true;
  });
  client.on('ready', () => {
    if (down) log.info('store: Redis connection is back');
    down = false;
  });
  const connected = client.connect();
  // The first connection must not retry for ever: a wrong address is an error at the start.
  const timer = setTimeout(() => client.destroy(), 5_000);
  try {
    await connected;
    opened = true;
  } catch (error) {
    throw new Error(redisFault('REDIS_URL', url, error), { cause: error });
  } finally {
    clearTimeout(timer);
  }
  return client;
}

/**
 * The store that several instances share. While the connection is lost, commands fail at once: a queue would block
 * requests. The client reconnects by itself and renews the subscriptions.
 */
export async function openRedisStore(url: string, log: Log, options: { prefix?: string } = {}): Promise<Store> {
  const prefix = options.prefix ?? 'tradepost:';
  const [commands, subscriber] = await Promise.all([connect(url, log), connect(url, log)]);

  return {
    kind: 'redis',
    async increment(key, ttlMs, by = 1) {
      const value = await commands.eval(incrementScript, {
        keys: [prefix + key],
        arguments: [String(by), String(ttlMs)],
      });
      return Number(value);
    },
    async decrement(key) {
      await commands.eval(decrementScript, { keys: [prefix + key] });
    },
    async get(key) {
      return commands.get(prefix + key);
    },
    async set(key, value, ttlMs) {
      await commands.set(prefix + key, value, { expiration: { type: 'PX', value: ttlMs } });
    },
    async setIfAbsent(key, value, ttlMs) {
      const answer = await commands.set(prefix + key, value, {
        expiration: { type: 'PX', value: ttlMs },
        condition: 'NX',
      });
      return answer !== null;
    },
    async delete(key) {
      await commands.del(prefix + key);
    },
    async publish(channel, message) {
      await commands.publish(prefix + channel, message);
    },
    async subscribe(channel, handle) {
      const listener = (message: string) => handle(message);
      await subscriber.subscribe(prefix + channel, listener);
      return async () => {
        await subscriber.unsubscribe(prefix + channel, listener);
      };
    },
    async ping() {
      await commands.ping();
    },
    async close() {
      await Promise.allSettled([commands.close(), subscriber.close()]);
    },
  };
}
