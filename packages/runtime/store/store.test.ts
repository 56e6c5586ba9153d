import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openLog } from '../observability/log.ts';
import { openMemoryStore } from './memory-store.ts';
import { openStore } from './open-store.ts';
import type { Store } from './store.ts';

const log = openLog({ level: 'silent' });
const hasRedis = (() => {
  try {
    execFileSync('redis-server', ['--version']);
    return true;
  } catch {
    process.stdout.write('redis-server is not installed: the tests of the Redis store are skipped\n');
    return false;
  }
})();

let directory: string;
let port: number;
let server: ChildProcess | undefined;

async function listen(tcp: Server): Promise<number> {
  tcp.listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  return (tcp.address() as { port: number }).port;
}

async function freePort(): Promise<number> {
  const probe = createServer();
  const found = await listen(probe);
  probe.close();
  await once(probe, 'close');
  return found;
}

async function startRedis(): Promise<void> {
  const options = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    directory,
  ];
  server = spawn('redis-server', options, { stdio: 'ignore' });
  await vi.waitFor(
    async () => {
      const socket = connect(port, '127.0.0.1');
      try {
        await once(socket, 'connect');
        socket.write('PING\r\n');
        const [answer] = await once(socket, 'data');
        expect(String(answer)).toContain('PONG');
      } finally {
        socket.destroy();
      }
    },
    { timeout: 10_000 },
  );
}

async function killRedis(): Promise<void> {
  const child = server;
  server = undefined;
  if (!child || child.exitCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tradepost-redis-'));
  port = await freePort();
  if (hasRedis) await startRedis();
});
afterAll(async () => {
  await killRedis();
  rmSync(directory, { recursive: true, force: true });
});

const redisUrl = () => `redis://127.0.0.1:${port}`;
const kinds = [
  { kind: 'memory', open: () => openStore(undefined, log), available: true },
  { kind: 'redis', open: () => openStore(redisUrl(), log), available: hasRedis },
];
let keys = 0;
const newKey = () => `key${process.pid}-${keys++}`;

describe.each(kinds)('the $kind store', ({ kind, open, available }) => {
  describe.skipIf(!available)('', () => {
    let store: Store;

    beforeEach(async () => {
      store = await open();
    });
    afterEach(async () => {
      await store.close();
    });

    test('is the requested kind and answers a ping', async () => {
      expect(store.kind).toBe(kind);
      await store.ping();
    });

    test('counts a fixed window: later calls do not extend it, and the next window starts at zero', async () => {
      const key = newKey();
      const began = Date.now();
      expect(await store.increment(key, 600)).toBe(1);
      let last = 1;
      // If each call extended the window, the counter would never be 1 again.
      while (Date.now() - began < 5_000) {
        const value = await store.increment(key, 600);
        if (value < last) break;
        last = value;
        await sleep(5);
      }
      expect(last).toBeGreaterThan(1);
      expect(await store.increment(key, 60_000)).toBe(2);
    });

    test('adds a number greater than one, and zero', async () => {
      const key = newKey();
      expect(await store.increment(key, 60_000, 5)).toBe(5);
      expect(await store.increment(key, 60_000, 7)).toBe(12);
      expect(await store.increment(key, 60_000, 0)).toBe(12);
      expect(await store.increment(key, 60_000, -2)).toBe(10);
      expect(await store.get(key)).toBe('10');
    });

    test('counts a hundred concurrent calls without losing one, so a rate limit holds', async () => {
      const key = newKey();
      const values = await Promise.all(Array.from({ length: 100 }, () => store.increment(key, 60_000)));
      expect(values.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
    });

    test('decrement stops at zero, and does not create an expired counter again', async () => {
      const key = newKey();
      await store.decrement(key);
      expect(await store.get(key)).toBeNull();
      expect(await store.increment(key, 60_000, 2)).toBe(2);
      await Promise.all([store.decrement(key), store.decrement(key), store.decrement(key)]);
      expect(await store.increment(key, 60_000)).toBe(1);
      const short = newKey();
      await store.increment(short, 30);
      await vi.waitFor(async () => {
        await store.decrement(short);
        expect(await store.get(short)).toBeNull();
      });
    });

    test('keeps a value until it expires, and replaces it', async () => {
      const key = newKey();
      expect(await store.get(key)).toBeNull();
      await store.set(key, 'une clé — 值', 60_000);
      expect(await store.get(key)).toBe('une clé — 值');
      await store.set(key, '', 60_000);
      expect(await store.get(key)).toBe('');
      await store.set(key, 'short', 30);
      await vi.waitFor(async () => expect(await store.get(key)).toBeNull());
    });

    test('setIfAbsent succeeds for one of fifty concurrent calls, and again after the value has expired or was deleted', async () => {
      const key = newKey();
      const won = await Promise.all(Array.from({ length: 50 }, (_, i) => store.setIfAbsent(key, String(i), 60_000)));
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await store.get(key)).toBe(String(won.indexOf(true)));
      await store.delete(key);
      expect(await store.get(key)).toBeNull();
      expect(await store.setIfAbsent(key, 'again', 30)).toBe(true);
      await vi.waitFor(async () => expect(await store.setIfAbsent(key, 'once more', 60_000)).toBe(true));
    });

    test('deleting a missing key is not an error', async () => {
      await store.delete(newKey());
    });

    test('delivers a message to all subscribers of its channel, in order, until they unsubscribe', async () => {
      const [channel, other] = [newKey(), newKey()];
      const [one, two, elsewhere]: string[][] = [[], [], []];
      const leave = await store.subscribe(channel, (message) => one!.push(message));
      await store.subscribe(channel, (message) => two!.push(message));
      await store.subscribe(other, (message) => elsewhere!.push(message));
      for (const message of ['a', 'b', 'c']) await store.publish(channel, message);
      await vi.waitFor(() =>
        expect([one, two]).toEqual([
          ['a', 'b', 'c'],
          ['a', 'b', 'c'],
        ]),
      );
      await leave();
      await store.publish(channel, 'd');
      await vi.waitFor(() => expect(two).toEqual(['a', 'b', 'c', 'd']));
      expect(one).toEqual(['a', 'b', 'c']);
      expect(elsewhere).toEqual([]);
    });

    test('one function subscribed twice is two subscriptions, and ending one keeps the other', async () => {
      const channel = newKey();
      const heard: string[] = [];
      const handle = (message: string) => heard.push(message);
      const leave = await store.subscribe(channel, handle);
      await store.subscribe(channel, handle);
      await store.publish(channel, 'a');
      await vi.waitFor(() => expect(heard).toEqual(['a', 'a']));
      await leave();
      await store.publish(channel, 'b');
      await vi.waitFor(() => expect(heard).toEqual(['a', 'a', 'b']));
    });

    test('delivers no message after close', async () => {
      const channel = newKey();
      const heard: string[] = [];
      const closing = await open();
      await closing.subscribe(channel, (message) => heard.push(message));
      await closing.close();
      await closing.close();
      await closing.publish(channel, 'late').catch(() => {});
      await store.publish(channel, 'late');
      await sleep(20);
      expect(heard).toEqual([]);
    });
  });
});

test('the memory store deletes expired keys that are not read, so its memory is bounded', async () => {
  const store = openMemoryStore({ sweepMs: 5 });
  await Promise.all(Array.from({ length: 100 }, (_, i) => store.set(`k${i}`, 'v', 1)));
  await store.set('kept', 'v', 60_000);
  await sleep(30);
  expect(await store.get('kept')).toBe('v');
  expect(await store.get('k1')).toBeNull();
  await store.close();
});

test('the memory store has a maximum of entries, so a flood of addresses does not fill the memory', async () => {
  const store = openMemoryStore({ maxEntries: 100 });
  for (let i = 0; i < 1_000; i += 1) await store.increment(`k${i}`, 60_000);
  const kept = await Promise.all(Array.from({ length: 1_000 }, (_, i) => store.get(`k${i}`)));
  expect(kept.filter((value) => value !== null)).toHaveLength(100);
  expect(kept[999]).toBe('1');
  await store.close();
});

describe.skipIf(!hasRedis)('several instances on one Redis', () => {
  test('share counters, values and messages', async () => {
    const [one, two] = await Promise.all([openStore(redisUrl(), log), openStore(redisUrl(), log)]);
    const [key, channel] = [newKey(), newKey()];
    const heard: string[] = [];
    await Promise.all([one, two].flatMap((store) => Array.from({ length: 50 }, () => store.increment(key, 60_000))));
    expect(await one.get(key)).toBe('100');
    await two.subscribe(channel, (message) => heard.push(message));
    await one.publish(channel, 'settings changed');
    await vi.waitFor(() => expect(heard).toEqual(['settings changed']));
    await Promise.all([one.close(), two.close()]);
  });

  test('when Redis is killed, calls fail at once, and work again when it is back', async () => {
    const lines: string[] = [];
    const log = openLog({ level: 'info', stream: { write: (line: string) => lines.push(line) } });
    const store = await openStore(redisUrl(), log);
    const [key, channel] = [newKey(), newKey()];
    const heard: string[] = [];
    const leave = await store.subscribe(channel, (message) => heard.push(message));
    await store.increment(key, 60_000);

    let stop = false;
    let failures = 0;
    const load = Promise.all(
      Array.from({ length: 20 }, async () => {
        while (!stop) {
          await store.increment(key, 60_000).catch(() => {
            failures += 1;
          });
          await sleep(1);
        }
      }),
    );
    await killRedis();
    await vi.waitFor(() => expect(failures).toBeGreaterThan(20));
    stop = true;
    // Ends only when no call hangs.
    await load;
    for (const call of [
      () => store.ping(),
      () => store.get(key),
      () => store.set(key, 'v', 1000),
      () => store.setIfAbsent(key, 'v', 1000),
      () => store.delete(key),
      () => store.publish(channel, 'lost'),
    ])
      await expect(call()).rejects.toThrow();
    expect(lines.filter((line) => line.includes('connection lost'))).toHaveLength(2);

    await startRedis();
    await vi.waitFor(() => store.ping(), { timeout: 10_000 });
    await vi.waitFor(
      async () => {
        await store.publish(channel, 'back');
        expect(heard).toContain('back');
      },
      { timeout: 10_000, interval: 50 },
    );
    expect(heard).not.toContain('lost');
    expect(await store.increment(newKey(), 60_000)).toBe(1);
    expect(lines.filter((line) => line.includes('connection is back'))).toHaveLength(2);
    await leave();
    await store.close();
  });

  test('the server can stop while Redis is down: unsubscribe and close do not hang', async () => {
    const store = await openStore(redisUrl(), log);
    const leave = await store.subscribe(newKey(), () => {});
    await killRedis();
    await expect(
      vi.waitFor(() =>
        store.ping().then(
          () => Promise.reject(),
          () => {},
        ),
      ),
    ).resolves.toBeUndefined();
    const ended = leave()
      .catch(() => {})
      .then(() => store.close())
      .then(() => 'ended');
    expect(await Promise.race([ended, sleep(5_000, 'hangs')])).toBe('ended');
    await startRedis();
  });
});

describe('an address without Redis is an error at the start that names the address', () => {
  const outcome = (url: string) =>
    Promise.race([
      openStore(url, log).then(
        () => 'opened',
        (error: Error) => error.message,
      ),
      sleep(15_000, 'hangs'),
    ]);

  test('no process listens', async () => {
    const closed = await freePort();
    expect(await outcome(`redis://127.0.0.1:${closed}`)).toMatch(`Redis does not answer at 127.0.0.1:${closed}`);
  });

  test('another process listens and never answers; the error does not contain the password', async () => {
    const silent = createServer(() => {});
    const silentPort = await listen(silent);
    const message = await outcome(`redis://:hunter2@127.0.0.1:${silentPort}`);
    expect(message).toMatch(`Redis does not answer at 127.0.0.1:${silentPort}`);
    expect(message).not.toContain('hunter2');
    silent.close();
  });
});
