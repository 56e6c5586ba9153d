export type RedisFacts = { version: string; policy: string | null; latencyMs: number };

const connectMs = 3_000;

/**
 * Reads facts about a Redis or Valkey server, with one attempt. `policy` is null when the account may not read it. `latencyMs`
 * is that of the fastest of three answers.
 */
export async function inspectRedis(url: string): Promise<RedisFacts> {
  const { createClient } = await import('@redis/client');
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: { connectTimeout: connectMs, reconnectStrategy: false },
  });
  // connect() rejects with the same error.
  client.on('error', () => {});
  const timer = setTimeout(() => client.destroy(), connectMs + 1_000);
  try {
    await client.connect();
    // One sample alone can have waited for this process, which has just started.
    const samples: number[] = [];
    for (let n = 0; n < 3; n++) {
      const begun = performance.now();
      await client.ping();
      samples.push(performance.now() - begun);
    }
    const latencyMs = Math.round(Math.min(...samples) * 10) / 10;
    const info = await client.info('server').catch(() => '');
    const memory = await client.info('memory').catch(() => '');
    const value = (text: string, key: string) => new RegExp(`^${key}:(.*?)\\r?$`, 'm').exec(text)?.[1] ?? null;
    const version = value(info, 'valkey_version') ?? value(info, 'redis_version') ?? 'unknown';
    return { version, policy: value(memory, 'maxmemory_policy'), latencyMs };
  } finally {
    clearTimeout(timer);
    if (client.isOpen) client.destroy();
  }
}
