import { setTimeout as sleep } from 'node:timers/promises';
import { openLog } from '@tradepost/runtime';
import { openRedisCluster, type RedisServer, redisIsInstalled } from '@tradepost/testing/servers/redis';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { KeyRef, Limits } from '../limits.ts';
import { openLedger, runProcesses } from '../testing/ledger.ts';
import { noKeys, noLimits } from '../testing/oracle.ts';
import { limiterScripts } from './limiter-script.ts';
import { openRedisLimiter, type RedisLimiter, type StoreResult } from './redis-limiter.ts';

/** Three nodes. A user and its tokens share a slot, address and model are on other nodes. A refusal must charge nothing anywhere. */
const hasRedis = redisIsInstalled('the tests of the limiter on a cluster');
let cluster: Awaited<ReturnType<typeof openRedisCluster>>;
let limiter: RedisLimiter;
let results: StoreResult[] = [];
const opened: RedisLimiter[] = [];

async function open(urls: readonly string[], deadlineMs = 10_000): Promise<RedisLimiter> {
  const one = openRedisLimiter({
    ...{ urls, log: openLog({ level: 'silent' }), prefix: 'cluster:' },
    deadlineMs: () => deadlineMs,
    onStore: (result) => results.push(result),
  });
  opened.push(one);
  await one.ready();
  return one;
}
beforeAll(async () => {
  if (!hasRedis) return;
  cluster = await openRedisCluster(3);
  limiter = await open(cluster.nodes.map(({ url }) => url));
});
afterAll(async () => {
  await Promise.all(opened.map((one) => one.close()));
  await cluster?.close();
});
let own = 0;
beforeEach(() => {
  own += 100;
  results = [];
});

/** The node that stores a key. */
async function nodeOf(key: string): Promise<RedisServer> {
  const slot = Number(await cluster.nodes[0]!.command('CLUSTER', 'KEYSLOT', key));
  return cluster.nodes[Math.floor((slot * 3) / 16_384)]!;
}
const all: Limits = {
  ...{ user_rpm: 100, user_tpm: 10_000, token_rpm: 100, token_tpm: 10_000, ip_rpm: 100 },
  ...{ model_rpm: 100, model_tpm: 10_000 },
};
const subjectOf = () => ({ user: own, token: own * 10, ip: `10.0.${own}`, model: `model ${own}` });
const usageOf = async (of: ReturnType<typeof subjectOf>) => {
  const keys: KeyRef[] = [
    { kind: 'user', key: String(of.user) },
    { kind: 'token', key: String(of.token), user: of.user },
    { kind: 'ip', key: of.ip },
    { kind: 'model', key: of.model },
  ];
  const found = await Promise.all(keys.map((key) => limiter.inspect(key)));
  return found.map(({ requests, tokens }) => [requests, tokens]);
};

describe.skipIf(!hasRedis)('', () => {
  test('a cluster is recognised, also when only one of its nodes is configured', async () => {
    await expect.poll(() => limiter.kind).toBe('redis-cluster');
    const single = await open([cluster.nodes[2]!.url]);
    await expect.poll(() => single.kind).toBe('redis-cluster');
    for (const one of [limiter, single, limiter, single]) await one.check(subjectOf(), all, 3);
    expect(await usageOf(subjectOf())).toEqual(Array(4).fill([4, 12]));
    expect(results).toEqual(Array(4).fill('ok'));
  });

  test('a user and its tokens share a slot; the keys are spread over all nodes', async () => {
    const { command } = cluster.nodes[0]!;
    const subjects = Array.from({ length: 30 }, (_, i) => ({ ...subjectOf(), user: own + i, token: own * 10 + i }));
    await Promise.all(subjects.map((of, i) => limiter.check({ ...of, ip: `${of.ip} ${i}` }, all, 1)));
    const keys = (await Promise.all(cluster.nodes.map((node) => node.command('KEYS', '*')))) as string[][];
    expect(keys.every((those) => those.length > 5)).toBe(true);
    for (const key of keys.flat().filter((name) => /:t\d+$/.test(name))) {
      const user = key.replace(/:t\d+$/, '');
      expect(await command('CLUSTER', 'KEYSLOT', key)).toBe(await command('CLUSTER', 'KEYSLOT', user));
    }
    const slots = await Promise.all(keys.flat().map((key) => command('CLUSTER', 'KEYSLOT', key)));
    expect(new Set(slots).size).toBeGreaterThan(40);
  });

  test.each([
    ['the user', { user_rpm: 3 }, 'user_rpm', 5],
    ['the token', { token_tpm: 17 }, 'token_tpm', 5],
    ['the address', { ip_rpm: 3 }, 'ip_rpm', 5],
    ['the model', { model_tpm: 17 }, 'model_tpm', 5],
    ['the cost', { model_tpm: 17 }, 'model_tpm', 18],
  ] as const)('a request refused by %s charges no other key', async (_title, changed, dimension, tokens) => {
    const of = subjectOf();
    const limits = { ...all, ...changed };
    for (let i = 0; i < 3; i += 1) expect((await limiter.check(of, limits, 5)).admitted).toBe(true);
    const before = await usageOf(of);
    expect(before).toEqual(Array(4).fill([3, 15]));
    for (let i = 0; i < 20; i += 1) {
      limiter.forgetRefusals();
      expect(await limiter.check(of, limits, tokens)).toMatchObject({
        admitted: false,
        dimension,
        denied: [dimension],
      });
    }
    expect(await usageOf(of)).toEqual(before);
    expect(await limiter.check(of, all, 5)).toMatchObject({ admitted: true, tightest: { remaining: 96 } });
  });

  test('an undone first charge leaves nothing, and later charges stay', async () => {
    const of = subjectOf();
    expect((await limiter.check({ ...noKeys, ip: of.ip }, { ...all, ip_rpm: 1 }, 0)).admitted).toBe(true);
    const burst = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        // Half of the requests have an address that admits them.
        limiter.check({ ...of, ip: i % 2 ? of.ip : `${of.ip} other` }, { ...all, ip_rpm: i % 2 ? 1 : 100 }, 7),
      ),
    );
    expect(burst.filter(({ admitted }) => admitted).length).toBe(20);
    const [user, token, ip, model] = await usageOf(of);
    expect([user, token, ip, model]).toEqual([
      [20, 140],
      [20, 140],
      [1, 0],
      [20, 140],
    ]);
  });

  test('a refusal caused by a charge that is then undone is not repeated from the cache', async () => {
    const { user } = subjectOf();
    const limits = { ...noLimits, user_rpm: 1 };
    const charged = await limiter.check({ ...noKeys, user }, limits, 4);
    expect(charged.admitted).toBe(true);
    expect(await limiter.check({ ...noKeys, user }, limits, 4)).toMatchObject({ admitted: false });
    const { source } = limiterScripts().undoCharge;
    const key = `cluster:{u${user}}`;
    expect(await (await nodeOf(key)).command('EVAL', source, 1, key, charged.at, 4)).toBe(1);
    await sleep(300);
    expect(await limiter.check({ ...noKeys, user }, limits, 4)).toMatchObject({ admitted: true });
  });

  test('a request is refused, also when its other charges can not be undone', async () => {
    const of = subjectOf();
    const limits = { ...all, ip_rpm: 1 };
    expect((await limiter.check(of, limits, 1)).admitted).toBe(true);
    const node = await nodeOf(`cluster:{u${of.user}}`);
    await node.command('SCRIPT', 'FLUSH');
    const { check } = limiterScripts();
    await node.command('SCRIPT', 'LOAD', check.source);
    await node.command('ACL', 'SETUSER', 'default', '-eval');
    try {
      expect(await limiter.check(of, limits, 1)).toMatchObject({ admitted: false, dimension: 'ip_rpm' });
    } finally {
      await node.command('ACL', 'SETUSER', 'default', '+eval');
    }
  });

  test('two processes: no window contains more than its limit, on any node', async () => {
    const limits: Limits = {
      ...{ user_rpm: 45, user_tpm: 800, token_rpm: 26, token_tpm: 450, ip_rpm: 55 },
      ...{ model_rpm: 52, model_tpm: 900 },
    };
    const windowMs = 400;
    const urls = cluster.nodes.map(({ url }) => url);
    const records = await runProcesses({ urls, prefix: 'two:', windowMs, limits, durationMs: 1_200 }, { processes: 2 });
    const verdicts = records.flatMap(({ verdict }) => verdict ?? []);
    expect(verdicts.length).toBe(records.length);
    expect(verdicts.filter((verdict) => verdict.admitted && verdict.unchecked)).toEqual([]);
    expect(verdicts.filter(({ admitted }) => admitted).length).toBeGreaterThan(100);
    expect(verdicts.filter(({ admitted }) => !admitted).length).toBeGreaterThan(100);
    const ledger = openLedger(records, { windowMs, limits });
    expect(ledger.overAdmissions(['user', 'token'])).toEqual([]);
    expect(ledger.overAdmissions(['ip', 'model'], 'between')).toEqual([]);
  });

  test('while a node is down every check is answered; its keys are limited again after its restart', async () => {
    const { user, token } = subjectOf();
    const limits = { ...noLimits, user_rpm: 5, token_rpm: 5 };
    const short = await open(
      cluster.nodes.map(({ url }) => url),
      400,
    );
    const check = (of = user) => short.check({ ...noKeys, user: of, token }, limits, 1);
    expect(await check()).toMatchObject({ admitted: true, tightest: { remaining: 4 } });
    const node = await nodeOf(`cluster:{u${user}}`);
    await node.kill();
    const began = performance.now();
    const unchecked = await Promise.all(Array.from({ length: 20 }, () => check()));
    expect(performance.now() - began).toBeLessThan(400 + 6_000);
    expect(unchecked.map((verdict) => verdict.admitted && verdict.unchecked !== undefined)).toEqual(
      Array(20).fill(true),
    );
    await node.start();
    const back = async () => expect(await check(user + 1)).toMatchObject({ tightest: { dimension: 'user_rpm' } });
    await vi.waitFor(back, { timeout: 15_000, interval: 50 });
    await vi.waitFor(async () => expect(await check()).toMatchObject({ admitted: false }), { timeout: 15_000 });
  });

  /** Users whose logs are on a node, and users whose logs are not. */
  const usersBy = async (node: RedisServer) => {
    const [on, off]: [number[], number[]] = [[], []];
    for (let user = own; on.length < 5 || off.length < 5; user += 1)
      ((await nodeOf(`cluster:{u${user}}`)) === node ? on : off).push(user);
    return { on: on.slice(0, 5), off: off.slice(0, 5) };
  };

  test('a frozen node affects only its own keys', async () => {
    const node = cluster.nodes[1]!;
    const { on, off } = await usersBy(node);
    const urls = cluster.nodes.map(({ url }) => url);
    const one = await open(urls, 200);
    const check = (user: number) => one.check({ ...noKeys, user }, { ...noLimits, user_rpm: 1 }, 1);
    for (const user of [...on, ...off]) expect(await check(user)).toMatchObject({ admitted: true });
    node.pause();
    try {
      const again = await Promise.all([...on, ...off, ...on, ...off].map(check));
      const refused = again.map(({ admitted }) => !admitted);
      expect(refused).toEqual([...on, ...off, ...on, ...off].map((user) => off.includes(user)));
      // The same when the circuit of the node is open.
      for (let round = 0; round < 3; round += 1)
        for (const user of off) expect(await check(user)).toMatchObject({ admitted: false });
    } finally {
      node.resume();
    }
  });

  test('a limiter that opens while a node is down uses the other nodes, and closes in time', async () => {
    await Promise.all(
      cluster.nodes.map((node) => node.command('CONFIG', 'SET', 'cluster-require-full-coverage', 'no')),
    );
    const node = cluster.nodes[0]!;
    const { off } = await usersBy(node);
    await node.kill();
    const late = openRedisLimiter({
      ...{ urls: cluster.nodes.map(({ url }) => url), log: openLog({ level: 'silent' }), prefix: 'cluster:' },
      deadlineMs: () => 300,
    });
    try {
      await late.ready();
      const limits = { ...noLimits, user_rpm: 1 };
      const check = (user: number) => late.check({ ...noKeys, user }, limits, 1);
      await vi.waitFor(async () => {
        for (const user of off) expect(await check(user)).toMatchObject({ admitted: false, dimension: 'user_rpm' });
      }, 15_000);
    } finally {
      const began = performance.now();
      await late.close();
      expect(performance.now() - began).toBeLessThan(10_000);
      await node.start();
    }
  });
});
