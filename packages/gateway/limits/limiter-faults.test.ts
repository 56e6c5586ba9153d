import { setTimeout as sleep } from 'node:timers/promises';
import { openRedis, type RedisServer, redisIsInstalled } from '@tradepost/testing/servers/redis';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';

/** A gateway whose Redis is killed, suspended or emptied: requests are still answered, and metrics report unchecked ones. */
const hasRedis = redisIsInstalled('the tests of a gateway that loses its Redis');
const limit = 20;
/** Long enough that a running store is not late on a busy machine. */
const deadlineMs = 400;
/** Allowance for a busy machine. It is shorter than the time in which the store is suspended. */
const slackMs = 2_000;
const settings = {
  ...{ 'ratelimit.user_default_rpm': limit, 'ratelimit.ip_rpm': 0, 'ratelimit.user_default_tpm': 0 },
  'ratelimit.store_deadline_ms': deadlineMs,
};
const flags = { only: 'api,gateway', gatewayPort: 0 };

/** An API token of a new user. */
async function newKey(shop: Shop, limits: object = {}): Promise<string> {
  const staff = await shop.server.tokens.issue({ role: 'admin', id: 7, perms: ['system:config'] });
  const { id } = await shop.shopper();
  const at = `/api/admin/users/${id}/ratelimit`;
  if (Object.keys(limits).length > 0) expect((await shop.call('PUT', at, { token: staff, body: limits })).code).toBe(0);
  const { code, message, data } = await shop.call('POST', '/api/admin/api-tokens', {
    token: staff,
    body: { user_id: id },
  });
  if (code !== 0) throw new Error(message);
  return data.secret;
}

type Seen = { status: number; limit: string | null; ms: number };
/** The shortest request that is charged. */
async function ask({ server }: Shop, key: string): Promise<Seen> {
  const began = performance.now();
  const response = await fetch(`${server.gateway!.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  await response.arrayBuffer();
  return { status: response.status, limit: response.headers.get('x-ratelimit-limit'), ms: performance.now() - began };
}
const burst = (shop: Shop, key: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => ask(shop, key)));
const tally = (seen: readonly Seen[]) => {
  const counts: Record<number, number> = {};
  for (const { status } of seen) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

/** The metrics of the gateway. */
async function read({ url }: Shop): Promise<(name: string, labels: Record<string, string>) => number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return (name, labels) => {
    const line = text
      .split('\n')
      .find(
        (row) => row.startsWith(`${name}{`) && Object.entries(labels).every(([k, v]) => row.includes(`${k}="${v}"`)),
      );
    return line ? Number(line.slice(line.lastIndexOf(' '))) : 0;
  };
}
const store = 'gateway_ratelimit_store_total';
const counted = async (shop: Shop) => {
  const value = await read(shop);
  return {
    ok: value(store, { result: 'ok' }),
    missed: ['timeout', 'error', 'open'].reduce((sum, result) => sum + value(store, { result }), 0),
    timeout: value(store, { result: 'timeout' }),
    error: value(store, { result: 'error' }),
    open: value(store, { result: 'open' }),
    checks: value('gateway_ratelimit_check_total', { dimension: 'user_rpm', result: 'allow' }),
  };
};

describe.skipIf(!hasRedis)('', () => {
  describe('under load', () => {
    let redis: RedisServer;
    let shop: Shop;
    let busy: string;
    beforeAll(async () => {
      redis = await openRedis();
      shop = await openShop({ ...flags, limiterRedisUrl: redis.url }, settings);
      busy = await newKey(shop, { rpm_limit: 1_000_000_000 });
      await ask(shop, busy);
    });
    afterEach(() => redis.resume());
    afterAll(async () => {
      await shop?.close();
      await redis?.close();
    });

    /** Sixteen clients that send requests all the time, while a fault happens. */
    async function during(happens: () => Promise<void>): Promise<Seen[]> {
      const seen: Seen[] = [];
      let going = true;
      const lane = async () => {
        while (going) {
          seen.push(await ask(shop, busy));
          await sleep(4);
        }
      };
      const lanes = Promise.all(Array.from({ length: 16 }, lane));
      lanes.catch(() => {});
      try {
        await sleep(200);
        await happens();
        await sleep(200);
      } finally {
        going = false;
        await lanes;
      }
      return seen;
    }
    const isBack = () =>
      vi.waitFor(async () => expect((await ask(shop, busy)).limit).not.toBeNull(), { timeout: 10_000, interval: 20 });

    /** Every answer arrived in time, and the metrics separate checked and unchecked requests. */
    async function outage(happens: () => Promise<void>) {
      const before = await counted(shop);
      const seen = await during(happens);
      const after = await counted(shop);
      expect(tally(seen)).toEqual({ 200: seen.length });
      expect(Math.max(...seen.map(({ ms }) => ms))).toBeLessThan(deadlineMs + slackMs);
      const unchecked = seen.filter((one) => one.limit === null).length;
      const grown = Object.fromEntries(
        Object.entries(after).map(([name, value]) => [name, value - before[name as keyof typeof before]]),
      ) as typeof after;
      expect(grown.missed).toBeGreaterThanOrEqual(unchecked);
      expect(grown.checks).toBe(grown.ok);
      return { unchecked, grown, seen };
    }
    /** The status of a request of a new user. */
    async function limitsHold() {
      const key = await newKey(shop);
      expect(tally(await burst(shop, key, limit * 2))).toEqual({ 200: limit, 429: limit });
      expect((await ask(shop, key)).status).toBe(429);
    }

    test('killed, and restarted empty', async () => {
      const { unchecked, grown } = await outage(async () => {
        await redis.kill();
        await sleep(800);
        await redis.start();
        await isBack();
      });
      expect(unchecked).toBeGreaterThan(20);
      // The open circuit skips most of the checks.
      expect(grown.error).toBeGreaterThan(0);
      expect(grown.open).toBeGreaterThan(grown.error + grown.timeout);
      await limitsHold();
    });

    test('suspended for three seconds with open connections', async () => {
      const { unchecked, grown } = await outage(async () => {
        redis.pause();
        await sleep(3_000);
        redis.resume();
        await isBack();
      });
      expect(unchecked).toBeGreaterThan(20);
      expect(grown.timeout).toBeGreaterThan(0);
      expect(grown.open).toBeGreaterThan(grown.timeout);
      await limitsHold();
    });

    test('emptied, with its scripts: no request passes unchecked', async () => {
      const { unchecked, grown } = await outage(async () => {
        for (let i = 0; i < 5; i += 1) {
          await redis.command('FLUSHALL');
          await redis.command('SCRIPT', 'FLUSH');
          await sleep(50);
        }
      });
      expect([unchecked, grown.missed]).toEqual([0, 0]);
      await limitsHold();
    });

    test('exhausted limits are still exhausted after the connections were lost', async () => {
      const key = await newKey(shop);
      expect(tally(await burst(shop, key, limit + 5))).toEqual({ 200: limit, 429: 5 });
      await outage(async () => {
        await redis.command('CLIENT', 'KILL', 'TYPE', 'normal').catch(() => {});
        await isBack();
      });
      expect(tally(await burst(shop, key, 5))).toEqual({ 429: 5 });
      const other = await newKey(shop);
      expect(tally(await burst(shop, other, limit + 5))).toEqual({ 200: limit, 429: 5 });
    });

    test('a gateway that starts without its Redis answers, and limits as soon as Redis runs', async () => {
      await redis.kill();
      const late = await openShop({ ...flags, limiterRedisUrl: redis.url }, settings);
      try {
        const key = await newKey(late);
        const before = await burst(late, key, limit * 2);
        expect(tally(before)).toEqual({ 200: limit * 2 });
        expect(before.filter((one) => one.limit !== null)).toEqual([]);
        expect((await counted(late)).checks).toBe(0);
        await redis.start();
        const probe = await newKey(late, { rpm_limit: 1_000_000 });
        const back = async () => expect((await ask(late, probe)).limit).not.toBeNull();
        await vi.waitFor(back, { timeout: 10_000, interval: 20 });
        expect(tally(await burst(late, key, limit * 2))).toEqual({ 200: limit, 429: limit });
      } finally {
        await late.close();
      }
    });
  });

  describe('three gateways on one database and one Redis', () => {
    let redis: RedisServer;
    let shops: Shop[];
    beforeAll(async () => {
      // The test runs the polls itself.
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      redis = await openRedis();
      const first = await openShop({ ...flags, redisUrl: redis.url }, settings);
      shops = [first];
      for (let i = 0; i < 2; i += 1)
        shops.push(await openShop({ ...flags, redisUrl: redis.url, databaseUrl: first.database.url }));
    });
    afterAll(async () => {
      vi.restoreAllMocks();
      vi.useRealTimers();
      for (const shop of shops?.toReversed() ?? []) await shop.close();
      await redis?.close();
    });
    const change = async (rpm: number) => {
      const staff = await shops[0]!.server.tokens.issue({ role: 'admin', id: 7, perms: ['system:config'] });
      const body = { user_default_rpm: rpm };
      expect((await shops[0]!.call('PATCH', '/api/admin/settings/ratelimit.*', { token: staff, body })).code).toBe(0);
    };
    const inForce = (key: string) => Promise.all(shops.map(async (shop) => (await ask(shop, key)).limit));
    /** Three gateways together admit as many requests as one. */
    async function together(count: number) {
      const key = await newKey(shops[0]!);
      const seen = (await Promise.all(shops.map((shop) => burst(shop, key, count)))).flat();
      expect(tally(seen)).toEqual({ 200: count, 429: count * 2 });
    }

    test('a change on one gateway is in force on the others at once', async () => {
      const key = await newKey(shops[0]!, {});
      expect(await inForce(key)).toEqual(['20', '20', '20']);
      await together(20);
      await change(12);
      await vi.waitFor(async () => expect(await inForce(key)).toEqual(['12', '12', '12']), { timeout: 3_000 });
      await together(12);
    });

    test('a change whose message is lost is in force within a minute', async () => {
      const publish = vi.spyOn(shops[0]!.server.runtime.events, 'publish').mockResolvedValue();
      await change(7);
      expect(publish).toHaveBeenCalled();
      await sleep(300);
      const limitOf = async (shop: Shop) => (await ask(shop, await newKey(shops[0]!))).limit;
      expect(await Promise.all(shops.map(limitOf))).toEqual(['7', '12', '12']);
      await vi.advanceTimersByTimeAsync(30_000);
      await vi.waitFor(async () => expect(await Promise.all(shops.map(limitOf))).toEqual(['7', '7', '7']), {
        timeout: 3_000,
      });
      await together(7);
    });
  });
});
