import { createClient } from '@redis/client';
import type { Log } from '../observability/log.ts';
import type { Store } from './store.ts';

/** Sets the expiry only when the key is new, so a counter counts a fixed window; one round trip, atomic. */
const incrementScript = `
local value = redis.call('incrby', KEYS[1], ARGV[1])
if redis.call('pttl', KEYS[1]) < 0 then redis.call('pexpire', KEYS[1], ARGV[2]) end
return value`;

/** An ended counter stays ended: a key made here would have no expiry. */
const decrementScript = `
local value = tonumber(redis.call('get', KEYS[1]) or 0)
if value > 0 then redis.call('decr', KEYS[1]) end`;

/** Rejects when the first connection does not come; a later one is made again by the client. */
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
  // The first connection must not retry for ever: a wrong address is a start-up error.
  const timer = setTimeout(() => client.destroy(), 5_000);
  try {
    await connected;
    opened = true;
  } catch (error) {
    throw new Error(`Redis does not answer at ${new URL(url).host}: ${(error as Error).message}`);
  } finally {
    clearTimeout(timer);
  }
  return client;
}

/**
 * The store that several instances share. Commands fail at once while the connection is down (no queue that would hang
 * requests); the client reconnects on its own and subscriptions come back with it.
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
