import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '@tradepost/postgres';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { type FakeUpstream, openUpstream } from '@tradepost/testing/servers/upstream';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

/** The findings of the doctor about a gateway that cannot answer, with their reasons. */
type Finding = { area: string; level: string; what: string; todo: string };
const key = 'sk-key-that-is-not-shown';
let database: TestDatabase;
let folder: string;
let upstream: FakeUpstream;
beforeAll(async () => {
  [database, upstream, folder] = await Promise.all([
    cloneDatabase(),
    openUpstream(),
    mkdtemp(join(tmpdir(), 'tradepost-doctor-gateway-')),
  ]);
});
afterAll(async () => {
  await upstream?.close();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  upstream.always(null);
  upstream.received.length = 0;
});

async function gateway(settings: object, more: object = {}): Promise<Finding[]> {
  const file = join(folder, 'config.json');
  const config = { port: 0, data: folder, databaseUrl: database.url, settings, ...more };
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  const { stdout } = await runCommandInProcess(['doctor', '--json', '--config', file], {
    env: { DOCTOR_TEST_KEY: key },
  });
  expect(stdout).not.toContain(key);
  const found = (JSON.parse(stdout) as { findings: Finding[] }).findings.filter(({ area }) => area === 'gateway');
  for (const { level, todo } of found) expect(level === 'ok' || todo !== '').toBe(true);
  return found;
}
const at = (name: string, more: object = {}) => ({
  name,
  base_url: upstream.url,
  api_key: 'env:DOCTOR_TEST_KEY',
  ...more,
});
const says = (found: Finding[]) => found.map(({ level, what }) => `${level}: ${what}`).join('\n');

test('a shop without a gateway has nothing to report', async () => {
  expect(says(await gateway({}))).toBe('ok: nothing to report');
});

test('a process that serves the gateway without an upstream is found, also before the first token', async () => {
  const process = openDatabase(database.url, { max: 1, name: 'tradepost process 0.0.9 g d 0 aaaaaaaa' });
  try {
    await process`select 1`;
    expect(says(await gateway({}))).toBe('note: no upstream is enabled: requests to the gateway are answered 503');
    const found = await gateway({ 'gateway.upstreams': [at('main')] });
    expect(says(found)).toMatch(/^ok: upstream main answers in \d+ ms$/);
  } finally {
    await process.end({ timeout: 1 });
  }
});

test('a working upstream is pinged once, with its key', async () => {
  const found = await gateway({ 'gateway.upstreams': [at('main')] });
  expect(says(found)).toMatch(/^ok: upstream main answers in \d+ ms$/);
  expect(upstream.received.map(({ method, path, headers }) => [method, path, headers.authorization])).toEqual([
    ['GET', '/v1/models', `Bearer ${key}`],
  ]);
});

test.each([
  [{ status: 401, body: { error: key } }, /error: upstream main refuses its key \(HTTP 401\)/],
  [{ status: 302, headers: { location: '/elsewhere' } }, /error: upstream main redirects/],
  [{ status: 500, body: key }, /warning: upstream main answers HTTP 500/],
  [{ status: 404 }, /ok: upstream main answers in \d+ ms \(HTTP 404/],
  [{ hang: true }, /error: upstream main \(http.*\): no answer within 3000 ms/],
  [{ reset: true }, /error: upstream main \(http.*\): \w+/],
])('an upstream that answers %j', async (behaviour, said) => {
  upstream.always(behaviour);
  expect(says(await gateway({ 'gateway.upstreams': [at('main')] }))).toMatch(said);
});

test('one of several upstreams without an answer is a warning; a disabled one is not pinged', async () => {
  const found = await gateway({
    'gateway.upstreams': [
      at('main'),
      at('gone', { base_url: 'http://127.0.0.1:2099/v1' }),
      at('off', { base_url: 'http://127.0.0.1:2/v1', enabled: false }),
    ],
  });
  expect(says(found)).toMatch(
    /ok: upstream main[\s\S]*warning: upstream gone \(http:\/\/127\.0\.0\.1:2099\/v1\): ECONNREFUSED/,
  );
  expect(says(found)).not.toContain('off');
});

test('a key that is not in the environment, models without an upstream, and disabled limits', async () => {
  const found = await gateway({
    'gateway.upstreams': [at('main', { api_key: 'env:DOCTOR_NO_SUCH_KEY', models: ['GPT-*'] })],
    'gateway.models': {
      'gpt-4': {},
      fast: { model: 'gpt-4o-mini' },
      lost: { model: 'llama' },
      other: { upstreams: ['nowhere'] },
    },
    'ratelimit.enabled': false,
  });
  expect(says(found)).toContain('warning: the key of upstream main is not in this environment: DOCTOR_NO_SUCH_KEY');
  expect(says(found)).toContain('warning: no enabled upstream serves lost, other');
  expect(says(found)).toContain('warning: ratelimit.enabled is false');
});

test.each([
  ['with an upstream', true],
  ['before the first upstream exists', false],
])('a Redis of the limiter that does not answer is found %s', async (_when, hasUpstream) => {
  const settings = hasUpstream ? { 'gateway.upstreams': [at('main')] } : {};
  const found = await gateway(settings, { limiterRedisUrl: 'redis://:hunter2@127.0.0.1:1' });
  expect(says(found)).toMatch(/error: Redis does not answer at 127\.0\.0\.1:1 \(LIMITER_REDIS_URL\)/);
  expect(JSON.stringify(found)).not.toContain('hunter2');
});

test('tokens without an upstream, without limits, expired, and expiring soon', async () => {
  const { sql } = database;
  const insert = (n: number, rpm: number | null, expires: string | null, revoked = false) => sql`
    insert into gateway.api_tokens (user_id, prefix, token_hash, rpm_limit, expires_at, revoked_at)
    values (${n}, 'tp-x', ${Buffer.from(`hash${n}`)}, ${rpm}, now() + ${expires}::interval, ${revoked ? new Date() : null})`;
  await insert(1, null, null);
  await insert(2, 0, null);
  await insert(3, null, '3 days');
  await insert(4, null, '-1 day');
  await insert(5, 0, null, true);
  await sql`insert into gateway.user_limits (user_id, rpm_limit) values (2, 0), (1, 5)`;
  const found = await gateway({});
  expect(says(found)).toBe(
    [
      'ok: 3 API tokens are in force',
      'note: 1 API tokens expire within a week',
      'warning: 1 API tokens and their users have no limit of requests',
      'note: 1 API tokens have expired and are not revoked',
      'error: no upstream is enabled: requests to the gateway are answered 503',
    ].join('\n'),
  );
});
