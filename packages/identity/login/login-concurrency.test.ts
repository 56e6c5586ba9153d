import { randomUUID } from 'node:crypto';
import { openLog, openStore, type Setting, type Store } from '@tradepost/runtime';
import { holdPasswordChecks } from '@tradepost/testing/cheap-hashes';
import { type RunningServer, startProcess } from '@tradepost/testing/processes/process';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { openRedis, type RedisServer, redisIsInstalled } from '@tradepost/testing/servers/redis';
import { openShop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identityErrors } from '../errors.ts';
import { type LoginLimits, openLoginLimits } from './attempt-limits.ts';
import { openReservations } from './attempt-reservations.ts';

/** Parallel guesses get no more attempts than sequential ones, and the owner can still log in. */
const hasRedis = redisIsInstalled('tests of login limits over several processes');
const log = openLog({ level: 'silent' });
let redis: RedisServer;
beforeAll(async () => {
  if (hasRedis) redis = await openRedis();
});
afterAll(() => redis?.close());

const perAddress = 20;
const perAccount = 5;
const limits: Record<string, number> = {
  'login.failures_per_address': perAddress,
  'login.failures_per_account': perAccount,
  'login.window_minutes': 15,
};
const settings = { get: ({ key }: Setting) => limits[key] } as never;
const isGuess = ({ refusalName }: { refusalName: string }) => refusalName === 'invalid_login';

describe.each([
  { kind: 'memory', instances: 1, available: true },
  { kind: 'redis', instances: 2, available: hasRedis },
])('on the $kind store, $instances instance(s)', ({ kind, instances, available }) => {
  describe.skipIf(!available)('', () => {
    let stores: Store[];
    let at: number;
    let logins: LoginLimits[];
    const openAll = () =>
      stores.map((store) => {
        const deps = { store, settings, log, now: () => new Date(at) };
        return openLoginLimits(deps, openReservations(deps));
      });
    beforeAll(async () => {
      const url = kind === 'redis' ? redis.url : undefined;
      stores = await Promise.all(Array.from({ length: instances }, () => openStore(url, log)));
      at = Math.ceil(Date.now() / 900_000) * 900_000;
      logins = openAll();
    });
    afterAll(() => Promise.all(stores.map((store) => store.close())));

    /** Runs `count` logins at once, distributed over the instances. Returns how many were checked, and the outcome of each. */
    async function atOnce(
      count: number,
      attempt: (n: number) => { account: string | null; address: string; outcome: 'right' | 'wrong' | 'fault' },
    ) {
      let checked = 0;
      const ended = await Promise.all(
        Array.from({ length: count }, async (_, n) => {
          const { account, address, outcome } = attempt(n);
          const login = logins[n % logins.length]!;
          return login({ account, address, isGuess }, async () => {
            checked += 1;
            await new Promise((resolve) => setTimeout(resolve, 5));
            if (outcome === 'wrong') throw identityErrors.invalid_login();
            if (outcome === 'fault') throw new Error('the database is away');
            return 'token';
          }).catch((error: { refusalName?: string }) => error.refusalName ?? 'fault');
        }),
      );
      return { checked, of: (outcome: string) => ended.filter((end) => end === outcome).length };
    }
    let addresses = 0;
    const newAddress = () => {
      addresses += 1;
      return `203.0.113.${addresses}`;
    };
    const wrongFrom = (address: string) => () =>
      ({ account: `name-${randomUUID()}`, address, outcome: 'wrong' }) as const;

    test('of 100 parallel wrong logins from one address, exactly the limit is checked', async () => {
      const { checked, of } = await atOnce(100, wrongFrom(newAddress()));
      expect([checked, of('invalid_login'), of('too_many_failures')]).toEqual([20, 20, 80]);
    });

    test('of 60 parallel wrong logins of one account from different addresses, exactly the limit is checked', async () => {
      const account = randomUUID();
      const { checked } = await atOnce(60, (n) => ({ account, address: `198.51.${n}.1`, outcome: 'wrong' }));
      expect(checked).toBe(perAccount);
      expect((await atOnce(1, () => ({ account, address: newAddress(), outcome: 'right' }))).of('token')).toBe(0);
    });

    test('attempts that one limit refuses do not count at the other limit', async () => {
      const [account, address] = [randomUUID(), newAddress()];
      await atOnce(40, () => ({ account, address, outcome: 'wrong' }));
      expect((await atOnce(40, wrongFrom(address))).checked).toBe(perAddress - perAccount);
    });

    test('any number of parallel right logins succeeds, because their counts are released', async () => {
      const address = newAddress();
      const right = await atOnce(60, () => ({ account: randomUUID(), address, outcome: 'right' }));
      expect(right.of('token')).toBe(60);
      expect((await atOnce(60, wrongFrom(address))).checked, 'the address has all its tries left').toBe(perAddress);
    });

    test('right logins between wrong ones succeed while the wrong ones are below the limit', async () => {
      const address = newAddress();
      const total = 36;
      const mixed = await atOnce(total, (n) => ({
        account: randomUUID(),
        address,
        outcome: n % 3 === 0 ? 'wrong' : 'right',
      }));
      expect([mixed.of('token'), mixed.of('invalid_login')]).toEqual([(total * 2) / 3, total / 3]);
      expect((await atOnce(60, wrongFrom(address))).checked).toBe(perAddress - total / 3);
    });

    test('an error of the shop does not count as a failed login', async () => {
      const address = newAddress();
      expect((await atOnce(15, () => ({ account: 'x', address, outcome: 'fault' }))).of('fault')).toBe(15);
      expect((await atOnce(60, wrongFrom(address))).checked).toBe(perAddress);
    });

    test('counts of a process that died end with the window', async () => {
      const address = newAddress();
      const dead = openAll()[0]!;
      for (let n = 0; n < perAddress; n += 1)
        void dead({ account: `dead-${n}`, address, isGuess }, () => new Promise(() => {}));
      await new Promise((resolve) => setTimeout(resolve, 100));
      logins = openAll();
      expect((await atOnce(1, wrongFrom(address))).checked).toBe(0);
      if (kind === 'redis')
        for (const key of await redis.command('KEYS', '*login:*'))
          expect(await redis.command('PTTL', key), key).toBeGreaterThan(0);
      at += 900_000;
      expect((await atOnce(1, wrongFrom(address))).checked).toBe(1);
    });
  });
});

describe.skipIf(!hasRedis)('two processes on one Redis', () => {
  let database: TestDatabase;
  let servers: RunningServer[];
  beforeAll(async () => {
    database = await cloneDatabase();
    const flags = ['--database-url', database.url, '--redis-url', redis.url, '--seed', 'none', '--only', 'api'];
    const env = { TRUSTED_PROXIES: '127.0.0.1', DATABASE_POOL: '4' };
    servers = await Promise.all([startProcess(flags, env), startProcess(flags, env)]);
  });
  afterAll(async () => {
    for (const { child, ended } of servers ?? []) {
      child.kill('SIGTERM');
      await ended;
    }
    await database?.drop();
  });

  test('of 100 parallel wrong logins from one address, 50 are checked and 50 are refused', async () => {
    const codes = await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        const response = await fetch(`${servers[n % 2]!.url}/api/auth/login`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.77' },
          body: JSON.stringify({ username: `name${n}`, password: 'wrong' }),
        });
        return ((await response.json()) as { code: number }).code;
      }),
    );
    const count = (code: number) => codes.filter((one) => one === code).length;
    expect([count(401), count(429)]).toEqual([50, 50]);
  });
});

test('password checks are limited: when the queue is full, the request gets 503 with Retry-After at once', async () => {
  const shop = await openShop({}, { 'login.failures_per_account': 0, 'login.failures_per_address': 0 });
  const { promise, resolve: open } = Promise.withResolvers<void>();
  holdPasswordChecks(promise);
  try {
    let busy = 0;
    const answers = await Promise.all(
      Array.from({ length: 350 }, async (_, n) => {
        const answer = await shop.call('POST', '/api/auth/login', {
          body: { username: `name${n}`, password: 'wrong' },
        });
        if (answer.status === 503) busy += 1;
        // Two are checked and 200 wait. The others are refused before any check ends.
        if (busy === 148) open();
        return answer;
      }),
    );
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused.length).toBe(148);
    expect(answers.length - refused.length).toBe(answers.filter(({ code }) => code === 401).length);
    expect(new Set(refused.map(({ headers }) => headers.get('retry-after')))).toEqual(new Set(['1']));
  } finally {
    open();
    holdPasswordChecks(undefined);
    await shop.close();
  }
});
