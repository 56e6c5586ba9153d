import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { openRedis, redisIsInstalled } from '@tradepost/testing/servers/redis';
import { type FakeUpstream, openUpstream } from '@tradepost/testing/servers/upstream';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';

/** The commands of the limiter beside a running gateway: load, inspect and reset. */
let shop: Shop;
let upstream: FakeUpstream;
const folder = mkdtempSync(join(tmpdir(), 'tradepost-limiter-cli-'));
/** Writes an API token to a file, because tokens are not given on a command line. */
function withToken(token: string): [string, string] {
  const file = join(folder, `${token}.txt`);
  writeFileSync(file, token);
  return ['--tokens', file];
}
let url: string;
let user: number;
let key: string;
let other: string;
beforeAll(async () => {
  upstream = await openUpstream();
  shop = await openShop(
    { only: 'api,gateway', gatewayPort: 0 },
    {
      'gateway.upstreams': [{ name: 'fake', base_url: upstream.url }],
      'gateway.models': { small: { rpm_limit: 3 } },
    },
  );
  url = shop.server.gateway!.url;
  user = (await shop.shopper()).id;
  key = await newKey(['--rpm', '7']);
  other = await newKey([]);
});
afterAll(async () => {
  await shop?.close();
  await upstream?.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => limiter('reset', '--all', '--yes'));

const onShop = () => ['--database-url', shop.database.url];
const limiter = (verb: 'inspect' | 'reset', ...args: string[]) =>
  runCommandInProcess(['limiter', verb, ...args, ...onShop()]);
async function newKey(args: string[]): Promise<string> {
  const { stdout } = await runCommandInProcess([
    'gateway',
    'token',
    'create',
    '--user',
    String(user),
    ...args,
    ...onShop(),
  ]);
  return stdout.trim();
}
const load = (...args: string[]) => runCommandInProcess(['limiter', 'load', ...args]);
async function reportWith(env: Record<string, string>, ...args: string[]) {
  const { code, stdout, stderr } = await runCommandInProcess(['limiter', 'load', ...args, '--json'], { env });
  if (stdout === '') throw new Error(stderr);
  return { code, ...JSON.parse(stdout) };
}
const report = (...args: string[]) => reportWith({}, ...args);
const models = (secret: string) => fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
const inspected = async (given: string) => JSON.parse((await limiter('inspect', given, '--json')).stdout);

test('a customer without max_tokens can use all requests of a minute, and reads what is left of both units', async () => {
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] });
  const headers = { authorization: `Bearer ${other}`, 'content-type': 'application/json' };
  const chat = () => fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
  const answers: Response[] = [];
  for (let n = 0; n < 61; n += 1) answers.push(await chat());
  expect(answers.map(({ status }) => status)).toEqual([...Array(60).fill(200), 429]);
  const unit = (n: number, name: string) =>
    ['limit', 'remaining'].map((what) => Number(answers[n]!.headers.get(`x-ratelimit-${what}-${name}`)));
  expect([unit(0, 'requests'), unit(59, 'requests')]).toEqual([
    [60, 59],
    [60, 0],
  ]);
  const [limit, left] = unit(0, 'tokens') as [number, number];
  expect([limit, unit(59, 'tokens')[1]]).toEqual([100_000, limit - 60 * (limit - left)]);
  expect(limit - left).toBeGreaterThan(1_024);
  expect(await answers.at(-1)!.json()).toMatchObject({ error: { message: 'rate limit exceeded: user RPM' } });
});

test.each(['load', 'inspect', 'reset'])('limiter %s --help shows an example and the exit codes', async (verb) => {
  const { code, stdout } = await runCommandInProcess(['limiter', verb, '--help']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/Examples?:\n {2}\$ tradepost limiter/);
  expect(stdout).toContain('Exit codes: 0');
});

describe('inspect and reset', () => {
  test('inspect shows the usage of a user, of a token by id or beginning, and of an address', async () => {
    for (let i = 0; i < 3; i += 1) await models(key);
    await models(other);
    const ofToken = { kind: 'token', requests: 3, limits: { rpm: 7, tpm: 100_000 }, remaining: { rpm: 4 } };
    expect(await inspected(key.slice(0, 11))).toMatchObject(ofToken);
    expect(await inspected(`token:${key.slice(0, 11)}`)).toMatchObject(ofToken);
    const { key: id } = await inspected(key.slice(0, 11));
    expect(await inspected(`token:${id}`)).toMatchObject({ ...ofToken, key: id });
    for (const name of [user, 'shopper1'])
      expect(await inspected(`user:${name}`)).toMatchObject({
        ...{ kind: 'user', key: String(user), requests: 4, tokens: 0, limits: { rpm: 60 }, remaining: { rpm: 56 } },
      });
    for (const address of ['127.0.0.1', '127.0.0', '::ffff:127.0.0.9'])
      expect(await inspected(`ip:${address}`)).toMatchObject({
        ...{ key: '127.0.0', requests: 4, limits: { rpm: 600, tpm: null }, remaining: { rpm: 596, tpm: null } },
      });
    expect(await inspected('ip:2001:DB8:0::1')).toMatchObject({
      key: '2001:db8::1',
      requests: 0,
      oldest_leaves_ms: null,
    });
    expect(await inspected('model:small')).toMatchObject({ limits: { rpm: 3, tpm: null }, requests: 0 });
    const { stdout } = await limiter('inspect', `user:${user}`);
    expect(stdout).toMatch(
      /LAST 60 S +LIMIT +LEFT\nrequests +4 +60 +56\ntokens +0 +100000 +100000\nthe oldest request leaves the window in/,
    );
  });

  test('reset frees one key or all keys, and prints their number', async () => {
    for (let i = 0; i < 7; i += 1) expect((await models(key)).status).toBe(200);
    expect((await models(key)).status).toBe(429);
    expect(await limiter('reset', key.slice(0, 11))).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/was reset/),
    });
    expect((await models(key)).status).toBe(200);
    expect(await inspected(`user:${user}`)).toMatchObject({ requests: 8 });
    expect(JSON.parse((await limiter('reset', 'model:small', '--json')).stdout)).toEqual({ reset: 0 });
    expect(await limiter('reset', '--all', '--yes')).toMatchObject({ code: 0, stdout: '3 logs reset\n' });
    expect(await inspected(`user:${user}`)).toMatchObject({ requests: 0 });
  });

  test.each([
    [['inspect', 'user'], 2, 'user:<phone|username|id>'],
    [['inspect', 'group:1'], 2, 'user:<phone|username|id>'],
    [['inspect', 'ip:localhost'], 2, 'not an IP address'],
    [['inspect', 'token:999'], 1, 'no API token 999'],
    [['inspect', 'user:unknown'], 1, 'no shopper unknown'],
    [['inspect', 'user:1', '--watch'], 2, '--watch'],
    [['reset'], 2, 'either a key or --all'],
    [['reset', 'user:1', '--all'], 2, 'either a key or --all'],
    [['reset', '--all'], 2, '--yes'],
  ] as const)('%j is answered with %i', async ([verb, ...args], code, said) => {
    const result = await limiter(verb, ...args);
    expect(result).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(said) });
  });

  test('a whole secret is refused and not repeated', async () => {
    const secret = `tp-${'x'.repeat(48)}`;
    const { code, stderr } = await limiter('inspect', secret);
    expect(code).toBe(2);
    expect(stderr).toContain('its beginning is enough');
    expect(stderr).not.toContain(secret);
  });

  test('without a running gateway both commands say so', async () => {
    const alone = await openShop();
    try {
      for (const args of [
        ['inspect', 'model:small'],
        ['reset', '--all', '--yes'],
      ])
        expect(await runCommandInProcess(['limiter', ...args, '--database-url', alone.database.url])).toMatchObject({
          ...{ code: 1, stdout: '', stderr: expect.stringContaining('No gateway is running') },
        });
    } finally {
      await alone.close();
    }
  });
});

describe('load', () => {
  test('the limiter in process has the limits of a new shop by default', async () => {
    const { code, stdout, stderr } = await load('--duration', '300ms', '--users', '20', '--plain');
    expect(code).toBe(0);
    expect(stdout).toMatch(/Verified +by the limiter's clock: user RPM, user TPM, token RPM, token TPM, ip RPM\n/);
    expect(stdout).toMatch(/Over-admissions +0\nFalse refusals +0\n/);
    expect(stderr).toBe('');
  });

  test('limits, mix and seed are options, and the same seed repeats the requests', async () => {
    const args = [
      '--max-requests',
      '3000',
      '--users',
      '5',
      '--ips',
      '0',
      '--user-rpm',
      '9',
      '--token-rpm',
      '0',
      '--seed',
      '5',
    ];
    const first = await report(...args);
    expect(first).toMatchObject({
      ...{ code: 0, target: 'embedded', ended: 'max_requests', requests: 3_000, admitted: 45, seed: 5 },
      limits: { user_rpm: 9, token_rpm: 0, ip_rpm: 600 },
    });
    expect(first.exactness.verified).toEqual(['user_rpm', 'user_tpm', 'token_tpm']);
    expect((await report(...args)).refused_by).toEqual(first.refused_by);
  });

  test('a running gateway is verified with the limits that an administrator reads', async () => {
    const login = await shop.server.tokens.issue({ role: 'admin', id: 7, perms: ['system:config'] });
    const file = join(folder, 'keys.txt');
    await writeFile(file, `# keys\n${key}\n\n${other}\n`);
    const admin = { TRADEPOST_ADMIN_TOKEN: login };
    const found = await reportWith(admin, '--url', `${url}/`, '--tokens', file, '--max-requests', '200');
    expect(found).toMatchObject({
      ...{ code: 0, target: 'gateway', requests: 200, errors: 0, unchecked: 0, passed: true, admitted: 60 },
      exactness: { method: 'bound', over_admissions: 0, not_verified: [], notes: [], unchecked_by_metrics: 0 },
    });
    expect(found.exactness.verified).toEqual(['user_rpm', 'token_rpm', 'ip_rpm']);
    expect(found.refused_by.user_rpm + found.refused_by.token_rpm).toBe(140);
  });

  test('without an administrator it verifies the limits that refusals name, and reports the others', async () => {
    const found = await report('--url', url, ...withToken(key), '--max-requests', '30');
    expect(found).toMatchObject({ code: 0, admitted: 7, refused_by: { token_rpm: 23 } });
    expect(found.exactness).toMatchObject({ verified: ['token_rpm'], not_verified: ['user_rpm', 'ip_rpm'] });
  });

  test('--chat sends real chat completions and verifies the limit of the model', async () => {
    const before = upstream.received.length;
    const found = await report(
      '--url',
      url,
      ...withToken(other),
      '--max-requests',
      '10',
      '--chat',
      'small',
      '--model-rpm',
      '3',
    );
    expect(found).toMatchObject({ code: 0, admitted: 3, refused_by: { model_rpm: 7 } });
    expect(upstream.received.length - before).toBe(3);
    expect(upstream.received.at(-1)).toMatchObject({
      path: '/v1/chat/completions',
      body: { model: 'small', max_tokens: 16 },
    });
  });

  test('errors above --max-errors fail the run and are named', async () => {
    const wrong = ['--url', url, ...withToken('tp-wrong'), '--max-requests', '5'];
    expect(await report(...wrong)).toMatchObject({ code: 1, errors: 5, error_kinds: { '401 invalid_api_key': 5 } });
    expect(await report(...wrong, '--max-errors', '5')).toMatchObject({ code: 0, passed: true });
  });

  test.each([
    [['--url', 'http://192.0.2.1:9', ...withToken('x')], 2, '--remote'],
    [['--redis-url', 'redis://192.0.2.1:9'], 2, '--remote'],
    [['--url', 'ftp://127.0.0.1', ...withToken('x')], 2, 'must be a URL'],
    [['--url', 'http://127.0.0.1:9'], 2, '--tokens'],
    [['--url', 'http://127.0.0.1:9', ...withToken('x')], 1, 'no gateway answers'],
    [['--url', 'http://127.0.0.1:9', ...withToken('x'), '--users', '3'], 2, '--users goes with the limiter'],
    [[...withToken('x')], 2, '--tokens goes with --url'],
    [['--in-process', '--url', 'http://127.0.0.1:9'], 2, 'either'],
    [['--duration', '2d'], 2, 'duration'],
    [['--cost', '9-3'], 2, 'range'],
    [['--redis-url', 'redis://127.0.0.1:9'], 1, 'Redis does not answer'],
  ])('%j is refused with %i', async (args, code, said) => {
    const result = await load(...args);
    expect(result).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(said) });
  });
});

describe('a gateway that admits too much', () => {
  let gateway: Server;
  let at: string;
  let admitted: number;
  let unchecked: number;
  let most: number;
  let headers: Record<string, string>;
  const answer = ({ url: path }: IncomingMessage, response: ServerResponse) => {
    if (path === '/metrics')
      return response.end(
        `# gateway_ratelimit_store_total\ngateway_ratelimit_store_total{result="open"} ${unchecked}\n`,
      );
    if (path !== '/v1/models') return response.end('{}');
    if (admitted < most) {
      admitted += 1;
      unchecked = Math.min(admitted, unchecked);
      return response.writeHead(200, headers).end('{}');
    }
    const error = {
      message: 'rate limit exceeded: token RPM',
      type: 'rate_limit_exceeded',
      code: 'rate_limit_exceeded',
    };
    response.writeHead(429, { 'x-ratelimit-limit': '5' }).end(JSON.stringify({ error }));
  };
  beforeAll(async () => {
    gateway = createServer(answer).listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    at = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    gateway?.closeAllConnections();
    gateway?.close();
  });
  beforeEach(() => {
    headers = { 'x-ratelimit-limit': '5' };
    admitted = 0;
    unchecked = 0;
    most = 6;
  });
  const args = () => ['--url', at, ...withToken('tp-abcdefgh123'), '--max-requests', '20'];

  test('is found when it admits one request too many: exit code 1', async () => {
    const found = await report(...args(), '--token-rpm', '5');
    expect(found).toMatchObject({
      ...{ code: 1, admitted: 6, passed: false, exactness: { over_admissions: 1 } },
    });
    expect(found.exactness.proofs).toEqual([
      { what: 'over_admission', key: 'token:tp-abcdefgh', dimension: 'token_rpm', count: 6, limit: 5, at: null },
    ]);
  });

  test('is found by the limit that its own refusals name', async () => {
    expect(await report(...args())).toMatchObject({
      code: 1,
      exactness: { over_admissions: 1, verified: ['token_rpm'] },
    });
  });

  test('passes when it admitted as many requests without a check', async () => {
    headers = {};
    expect(await report(...args(), '--token-rpm', '5')).toMatchObject({
      ...{ code: 0, unchecked: 6, exactness: { over_admissions: 0, explained_by_unchecked: 1 } },
    });
  });
});

describe.runIf(redisIsInstalled('limiter load on Redis'))('load on Redis', () => {
  test('is exact and removes its keys; a store that loses its logs is found', async () => {
    const redis = await openRedis();
    try {
      const args = [
        '--redis-url',
        redis.url,
        '--users',
        '50',
        '--ips',
        '0',
        '--concurrency',
        '20',
        '--store-deadline',
        '5000',
      ];
      expect(await report(...args, '--duration', '500ms')).toMatchObject({
        ...{ code: 0, target: 'redis', unchecked: 0, errors: 0 },
        exactness: { method: 'exact', over_admissions: 0, false_refusals: 0 },
      });
      expect(await redis.command('DBSIZE')).toBe(0);
      const running = report(...args, '--duration', '3s');
      await vi.waitFor(async () => expect(await redis.command('DBSIZE')).toBeGreaterThan(50), { timeout: 2_000 });
      await new Promise((resolve) => setTimeout(resolve, 700));
      await redis.command('FLUSHALL');
      const found = await running;
      expect(found.code).toBe(1);
      expect(found.exactness.over_admissions).toBeGreaterThan(0);
      expect(await redis.command('DBSIZE')).toBe(0);
    } finally {
      await redis.close();
    }
  });
});

test('a signal ends a run early, with a report', async () => {
  const script = join(import.meta.dirname, '../../../bin/tradepost.ts');
  const child = spawn(process.execPath, [script, 'limiter', 'load', '--duration', '1m', '--rate', '1000', '--json']);
  let stdout = '';
  child.stdout.on('data', (chunk) => {
    stdout += String(chunk);
  });
  // The first line shows that the run has begun.
  await once(child.stderr, 'data');
  child.kill('SIGINT');
  const [code] = await once(child, 'close');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ ended: 'stopped', passed: true });
});
