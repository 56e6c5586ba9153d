import { setTimeout as sleep } from 'node:timers/promises';
import { openLog } from '@tradepost/runtime';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { logStatements } from '@tradepost/testing/statements';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ApiToken } from './api-token.ts';
import { type ApiTokens, openApiTokens } from './api-tokens.ts';

/** API tokens over HTTP, on two instances of one database: `here` and `there`. */
let shop: Shop;
let second: Shop;
let here: ApiTokens;
let there: ApiTokens;
let staff: string;
let user: number;
let ticks: () => Promise<void>;
let lines: string[];
beforeAll(async () => {
  // The tests run polls and flushes themselves.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  lines = [];
  shop = await openShop();
  second = await openShop({ databaseUrl: shop.database.url });
  const log = openLog({ level: 'trace', stream: { write: (line: string) => lines.push(line) } });
  here = await openApiTokens({ ...shop.server.runtime, log });
  there = await openApiTokens({ ...second.server.runtime, log });
  staff = await shop.server.tokens.issue({ role: 'admin', id: 7, perms: ['system:config'] });
  user = (await shop.shopper()).id;
  ticks = async () => {
    await vi.advanceTimersByTimeAsync(30_000);
    await sleep(100);
  };
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  vi.useRealTimers();
  await here?.close();
  await there?.close();
  await second?.close();
  await shop?.close();
});

const path = '/api/admin/api-tokens';
const ask = (method: string, at: string, body?: unknown, headers: Record<string, string> = {}) =>
  shop.call(method, at, { token: staff, body, headers });
async function make(body: object = {}) {
  const { code, message, data } = await ask('POST', path, { user_id: user, ...body });
  if (code !== 0) throw new Error(message);
  return data as { id: number; secret: string; prefix: string };
}
/** The id of the token, or the reason why it is refused. */
async function opens(tokens: ApiTokens, secret: string): Promise<unknown> {
  const token = await tokens.verify(secret);
  return typeof token === 'string' ? token : token.id;
}
const becomes = (tokens: ApiTokens, secret: string, what: unknown) =>
  vi.waitFor(async () => expect(await opens(tokens, secret)).toEqual(what), { timeout: 3_000, interval: 10 });
const both = async (secret: string) => [await opens(here, secret), await opens(there, secret)];
/** No message reaches another instance, so changes are found by the poll alone. */
const muted = () => {
  for (const each of [shop, second])
    vi.spyOn(each.server.runtime.events, 'publish').mockRejectedValue(new Error('the message is lost'));
};
/** Makes a token look unchanged for a long time. Otherwise every poll reads it again. */
const age = (id: number) => shop.database.sql`
  update gateway.api_tokens set updated_at = now() - interval '1 hour' where id = ${id}`;
const trail = async (id: number) =>
  (await ask('GET', `${path}/${id}/changes`)).data.list.map((row: Record<string, unknown>) => [
    row.action,
    row.changed_by,
    row.details,
  ]);

describe('a secret', () => {
  test('is shown once, has the documented form, and is valid at once on every instance', async () => {
    const { id, secret, prefix } = await make({ name: 'laptop', rpm_limit: 5 });
    expect(secret).toMatch(/^tp-[0-9A-Za-z]{48}$/);
    expect(secret.slice(0, 11)).toBe(prefix);
    expect(await both(secret)).toEqual([id, id]);
    expect(here.verify(secret), 'a known one is answered without waiting').toMatchObject({
      ...{ id, userId: user, rpmLimit: 5, tpmLimit: null },
      ...{ userRpmLimit: null, userTpmLimit: null, expiresAt: null },
    });
    for (const at of [`${path}/${id}`, path, `${path}/${id}/changes`])
      expect(JSON.stringify((await ask('GET', at)).body)).not.toContain(secret.slice(11));
  });

  test('is in no table, log or trail after all operations', async () => {
    const { id, secret } = await make({ name: 'hidden' });
    const rotated = (await ask('POST', `${path}/${id}/rotate`, { grace_seconds: 60 })).data.secret as string;
    const key = { 'idempotency-key': 'a-key-of-ours' };
    for (const [at, body] of [
      [path, { user_id: user }],
      [`${path}/${id}/rotate`, {}],
    ] as const)
      expect(await ask('POST', at, body, key)).toMatchObject({ code: at === path ? 400 : 422 });
    await opens(here, secret);
    await opens(there, rotated);
    muted();
    await here.revoke([id], 'cli');
    await ticks();
    const { sql } = shop.database;
    const tables = await sql<{ name: string }[]>`
      select table_schema || '.' || table_name as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`;
    for (const { name } of tables) {
      const [row] = await sql.unsafe(`select coalesce(string_agg(t::text, ' '), '') as text from ${name} t`);
      for (const each of [secret, rotated])
        for (const form of [each, each.slice(11), Buffer.from(each).toString('hex')])
          expect(row!.text.includes(form), `${name} holds a secret`).toBe(false);
    }
    expect(lines.length).toBeGreaterThan(0);
    for (const each of [secret, rotated]) expect(lines.join('')).not.toContain(each.slice(11));
  });

  test('is not created twice by an idempotency key, which is refused by name', async () => {
    const key = { 'idempotency-key': 'lost' };
    const before = (await ask('GET', path)).data.total;
    for (const _ of ['first', 'repeat'])
      expect(await ask('POST', path, { user_id: user }, key)).toMatchObject({
        code: 400,
        message: expect.stringContaining('Idempotency-Key'),
      });
    expect((await ask('GET', path)).data.total).toBe(before);
  });

  test.each([
    ['', 'nothing'],
    ['tp-', 'the mark alone'],
    [`tp-${'x'.repeat(47)}`, 'too short'],
    [`tp-${'x'.repeat(49)}`, 'too long'],
    [`tp-${'-'.repeat(48)}`, 'other characters'],
    [`sk-${'x'.repeat(48)}`, 'another mark'],
    [`tp-${'x'.repeat(48)}\n`, 'a line break'],
  ])('%j (%s) is not a secret and causes no query', async (secret) => {
    expect(here.verify(secret)).toBe('unknown');
  });

  test('is unknown when no query is allowed, and needs no query when it is cached', async () => {
    const { id, secret } = await make();
    let asked = 0;
    const no = () => {
      asked += 1;
      return false;
    };
    const fresh = await openApiTokens(shop.server.runtime);
    expect(fresh.verify(secret, no)).toBe('unknown');
    expect(await fresh.verify(secret, () => true)).toMatchObject({ id });
    expect(fresh.verify(secret, no)).toMatchObject({ id });
    expect(asked).toBe(1);
    await fresh.close();
  });
});

describe('a token is refused', () => {
  test('after its revocation: here at once, there by message; a second revocation changes nothing', async () => {
    const { id, secret } = await make();
    expect(await both(secret)).toEqual([id, id]);
    await here.revoke([id], 'cli');
    expect(here.verify(secret), 'nothing is kept of it').toBeInstanceOf(Promise);
    expect(await opens(here, secret)).toBe('revoked');
    await becomes(there, secret, 'revoked');
    for (const _ of ['again', 'and again'])
      expect(await ask('DELETE', `${path}/${id}`)).toMatchObject({ code: 0, data: null });
    expect((await ask('GET', `${path}/${id}`)).data).toMatchObject({ status: 'revoked' });
    expect((await trail(id)).map(([action, by]: string[]) => [action, by])).toEqual([
      ['revoke', 'cli'],
      ['create', 'admin:7'],
    ]);
  });

  test('by the poll when the message is lost', async () => {
    const { id, secret } = await make();
    expect(await both(secret)).toEqual([id, id]);
    muted();
    expect((await ask('DELETE', `${path}/${id}`)).code).toBe(0);
    await sleep(50);
    expect(await opens(there, secret), 'it has not heard of it').toBe(id);
    await ticks();
    expect(await both(secret)).toEqual(['revoked', 'revoked']);
    const other = await make();
    expect(await both(other.secret)).toEqual([other.id, other.id]);
    await here.revoke([other.id], 'cli');
    expect(await both(other.secret), 'who has revoked it needs no message').toEqual(['revoked', other.id]);
  });

  test('after its expiry, by the clock alone; a later expiry makes it valid again', async () => {
    const { id, secret } = await make({ expires_at: new Date(Date.now() + 3_600_000).toISOString() });
    expect(await both(secret)).toEqual([id, id]);
    const now = vi.spyOn(Date, 'now');
    const later = new Date(Date.now() + 3_600_001);
    for (const one of [shop, second]) vi.spyOn(one.server.runtime, 'now').mockReturnValue(later);
    now.mockRestore();
    const expired = await openApiTokens({ ...shop.server.runtime, now: () => later });
    expect(await opens(expired, secret)).toBe('expired');
    await expired.close();
    expect((await ask('GET', `${path}/${id}`)).data.status).toBe('expired');
    expect((await ask('GET', `${path}?status=expired`)).data.list.map((row: ApiToken) => row.id)).toContain(id);
    expect(await ask('POST', `${path}/${id}/rotate`, {})).toMatchObject({ code: 409 });
    expect((await ask('PATCH', `${path}/${id}`, { expires_at: null })).data.status).toBe('active');
    await becomes(there, secret, id);
  });

  test('while its account is disabled, found by the poll; it is valid again with the account', async () => {
    const { id: owner } = await shop.shopper();
    const { id, secret } = await make({ user_id: owner });
    await age(id);
    expect(await both(secret)).toEqual([id, id]);
    await shop.database.sql`update identity.shoppers set status = 0 where id = ${owner}`;
    await ticks();
    expect(await both(secret)).toEqual(['disabled', 'disabled']);
    await shop.database.sql`update identity.shoppers set status = 1 where id = ${owner}`;
    await ticks();
    expect(await both(secret)).toEqual([id, id]);
  });

  test('at once when the shopper deletes the account', async () => {
    const { id: owner, token } = await shop.shopper();
    const phone = '13911118888';
    await shop.database.sql`update identity.shoppers set phone = ${phone} where id = ${owner}`;
    const { id, secret } = await make({ user_id: owner });
    expect(await both(secret)).toEqual([id, id]);
    const { data } = await shop.call('POST', '/api/v1/auth/sms/send', { body: { phone } });
    const gone = await shop.call('POST', '/api/v1/user/delete', { token, body: { phone, code: data.dev_code } });
    expect(gone.code, gone.message).toBe(0);
    await becomes(here, secret, 'disabled');
    await becomes(there, secret, 'disabled');
    expect(await ask('POST', path, { user_id: owner })).toMatchObject({ code: 404 });
  });
});

describe('a rotated token', () => {
  test('keeps id and limits; the old secret ends on all instances', async () => {
    const { id, secret, prefix } = await make({ rpm_limit: 9 });
    expect(await both(secret)).toEqual([id, id]);
    const { data } = await ask('POST', `${path}/${id}/rotate`, {});
    expect(data).toMatchObject({ id, rpm_limit: 9, previous_until: null });
    expect([data.prefix, data.secret]).not.toContain(prefix);
    await becomes(here, secret, 'unknown');
    await becomes(there, secret, 'unknown');
    expect(await both(data.secret)).toEqual([id, id]);
    const [[action, by, details]] = await trail(id);
    expect([action, by, details]).toMatchObject([
      'rotate',
      'admin:7',
      { before: { prefix }, after: { prefix: data.prefix } },
    ]);
  });

  test('has two valid secrets within the grace period; a second rotation ends the first secret', async () => {
    const first = await make();
    const second = (await ask('POST', `${path}/${first.id}/rotate`, { grace_seconds: 1 })).data;
    expect(second.previous_until).not.toBeNull();
    expect(await both(first.secret)).toEqual([first.id, first.id]);
    await sleep(1_100);
    expect(await both(first.secret)).toEqual(['revoked', 'revoked']);
    const third = (await ask('POST', `${path}/${first.id}/rotate`, { grace_seconds: 600 })).data;
    expect(await both(second.secret)).toEqual([first.id, first.id]);
    await ask('POST', `${path}/${first.id}/rotate`, { grace_seconds: 600 });
    await becomes(there, second.secret, 'unknown');
    expect(await both(third.secret)).toEqual([first.id, first.id]);
    await ask('DELETE', `${path}/${first.id}`);
    await becomes(there, third.secret, 'revoked');
  });
});

describe('limits', () => {
  test('of a token and its user apply at once; null inherits, 0 is unlimited', async () => {
    const { id: owner } = await shop.shopper();
    const { id, secret } = await make({ user_id: owner });
    const at = `/api/admin/users/${owner}/ratelimit`;
    const seen = async () => {
      const token = (await there.verify(secret)) as ApiToken;
      return [token.rpmLimit, token.tpmLimit, token.userRpmLimit, token.userTpmLimit];
    };
    const become = (limits: (number | null)[]) =>
      vi.waitFor(async () => expect(await seen()).toEqual(limits), { timeout: 3_000, interval: 10 });
    await become([null, null, null, null]);
    expect((await ask('GET', at)).data).toEqual({
      ...{ user_id: owner, rpm_limit: null, tpm_limit: null },
      effective: { user_rpm: 60, user_tpm: 100_000 },
    });
    expect((await ask('PATCH', `${path}/${id}`, { rpm_limit: 5, tpm_limit: 0 })).data).toMatchObject({
      effective: { user_rpm: 60, user_tpm: 100_000, token_rpm: 5, token_tpm: 0 },
    });
    await become([5, 0, null, null]);
    expect((await ask('PUT', at, { rpm_limit: 600 })).data).toMatchObject({ rpm_limit: 600, tpm_limit: null });
    await become([5, 0, 600, null]);
    expect((await ask('PATCH', `${path}/${id}`, { rpm_limit: null })).data).toMatchObject({
      effective: { user_rpm: 600, token_rpm: 600, token_tpm: 0 },
    });
    await become([null, 0, 600, null]);
    expect((await ask('DELETE', at)).data.effective.user_rpm).toBe(60);
    expect((await ask('DELETE', at)).code).toBe(0);
    await become([null, 0, null, null]);
    const changes = (await ask('GET', `${at}/changes`)).data;
    expect(changes.list.map((row: { action: string; details: object }) => [row.action, row.details])).toMatchObject([
      ['user_limits', { before: { rpm_limit: 600 }, after: { rpm_limit: null } }],
      ['update', { before: { rpm_limit: 5 }, after: { rpm_limit: null } }],
      ['user_limits', { before: { rpm_limit: null }, after: { rpm_limit: 600 } }],
      ['update', { before: { rpm_limit: null, tpm_limit: null }, after: { rpm_limit: 5, tpm_limit: 0 } }],
      ['create', { rpm_limit: null }],
    ]);
    // A change whose message was lost is found by the poll.
    await age(id);
    muted();
    await ask('PUT', at, { tpm_limit: 7 });
    expect(await seen()).toEqual([null, 0, null, null]);
    await ticks();
    expect(await seen()).toEqual([null, 0, null, 7]);
  });

  test('concurrent changes leave a trail in which each begins with the values of the previous one', async () => {
    const { id } = await make();
    await Promise.all(Array.from({ length: 20 }, (_, n) => ask('PATCH', `${path}/${id}`, { rpm_limit: n + 1 })));
    const rows = (await ask('GET', `${path}/${id}/changes?size=100`)).data.list.reverse().slice(1);
    expect(rows.length).toBeGreaterThan(5);
    const values = (of: 'before' | 'after') =>
      rows.map((row: { details: Record<string, { rpm_limit: number }> }) => row.details[of]!.rpm_limit);
    expect(values('before')).toEqual([null, ...values('after').slice(0, -1)]);
    expect((await ask('GET', `${path}/${id}`)).data.rpm_limit).toBe(values('after').at(-1));
  });
});

describe('a refused request changes nothing', () => {
  test.each([
    ['POST', path, { user_id: 2 ** 40 }, 404, 'user_id'],
    ['POST', path, {}, 400, 'user_id'],
    ['POST', path, { user_id: 1, rpm_limit: -1 }, 400, 'rpm_limit'],
    ['POST', path, { user_id: 1, tpm_limit: 1.5 }, 400, 'tpm_limit'],
    ['POST', path, { user_id: 1, name: 'x'.repeat(101) }, 400, 'name'],
    ['POST', path, { user_id: 1, expires_at: 'soon' }, 400, 'expires_at'],
    ['POST', path, { user_id: 1, expires_at: '2020-01-01' }, 400, 'expires_at'],
    ['GET', `${path}/1099511627776`, undefined, 404, '1099511627776'],
    ['PATCH', `${path}/1099511627776`, { name: 'x' }, 404, '1099511627776'],
    ['DELETE', `${path}/1099511627776`, undefined, 404, '1099511627776'],
    ['POST', `${path}/1099511627776/rotate`, {}, 404, '1099511627776'],
    ['POST', `${path}/1/rotate`, { grace_seconds: 604_801 }, 400, 'grace_seconds'],
    ['GET', '/api/admin/users/1099511627776/ratelimit', undefined, 404, '1099511627776'],
    ['PUT', '/api/admin/users/1099511627776/ratelimit', { rpm_limit: 1 }, 404, '1099511627776'],
    ['PUT', '/api/admin/users/1/ratelimit', { rpm_limit: 'many' }, 400, 'rpm_limit'],
  ])('%s %s %j', async (method, at, body, code, named) => {
    const answer = await ask(method, at, body);
    expect(answer).toMatchObject({ code, data: null });
    expect(answer.message).toContain(named);
  });

  test('a change of a revoked token', async () => {
    const { id } = await make({ name: 'was' });
    await ask('DELETE', `${path}/${id}`);
    expect((await ask('PATCH', `${path}/${id}`, { name: 'is' })).code).toBe(409);
    expect((await ask('POST', `${path}/${id}/rotate`, {})).code).toBe(409);
    expect((await ask('GET', `${path}/${id}`)).data).toMatchObject({ name: 'was', status: 'revoked' });
  });

  test('an administrator without the permission', async () => {
    const token = await shop.server.tokens.issue({ role: 'admin', id: 7, perms: ['order:view'] });
    expect(await shop.call('POST', path, { token, body: { user_id: user } })).toMatchObject({ code: 403 });
  });
});

test('the list is filtered by user, state and part of name or prefix, and paged', async () => {
  const { id: owner } = await shop.shopper();
  const made = [];
  for (const name of ['alpha', 'beta 100%', 'beta']) made.push(await make({ user_id: owner, name }));
  await ask('DELETE', `${path}/${made[0]!.id}`);
  const ids = async (query: string) => {
    const { data } = await ask('GET', `${path}?user_id=${owner}&${query}`);
    return [data.total, ...data.list.map((row: { id: number }) => row.id)];
  };
  const [alpha, percent, beta] = made.map((each) => each.id);
  expect(await ids('')).toEqual([3, beta, percent, alpha]);
  expect(await ids('size=1&page=2')).toEqual([3, percent]);
  expect(await ids('page=9')).toEqual([3]);
  expect(await ids('status=active')).toEqual([2, beta, percent]);
  expect(await ids('status=revoked')).toEqual([1, alpha]);
  expect(await ids('keyword=BETA')).toEqual([2, beta, percent]);
  expect(await ids('keyword=100%25')).toEqual([1, percent]);
  expect(await ids(`keyword=${made[2]!.prefix}`)).toEqual([1, beta]);
});

describe('queries', () => {
  test('many secrets at once take one statement; one secret many times takes one query; a cached secret takes none', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => make()));
    const { runtime } = shop.server;
    const queriedDigests: string[][] = [];
    const sql = new Proxy(runtime.sql, {
      apply(target, self, args) {
        if ((args[0] as string[]).join?.('').includes('with given as')) queriedDigests.push(args[1]);
        return Reflect.apply(target, self, args);
      },
    });
    const fresh = await openApiTokens({ ...runtime, sql });
    const log = logStatements(shop);
    const all = () => Promise.all(made.flatMap(({ secret }) => Array.from({ length: 5 }, () => fresh.verify(secret))));
    const first = await log.during(all);
    expect(first.value.map((token) => (token as ApiToken).id)).toEqual(made.flatMap(({ id }) => Array(5).fill(id)));
    expect(first.texts.filter((text) => text.includes('gateway.api_tokens'))).toHaveLength(1);
    expect(queriedDigests.map((digests) => digests.length)).toEqual([20]);
    expect((await log.during(all)).texts).toEqual([]);
    await fresh.close();
  });

  test('unknown secrets evict no valid token, and repeats of one take one query', async () => {
    const { id, secret } = await make();
    const fresh = await openApiTokens(shop.server.runtime);
    expect(await opens(fresh, secret)).toBe(id);
    const invented = Array.from({ length: 12_000 }, (_, n) => `tp-${String(n).padStart(48, '0')}`);
    for (let i = 0; i < invented.length; i += 4_000) {
      const answers = await Promise.all(invented.slice(i, i + 4_000).map((each) => fresh.verify(each)));
      expect(new Set(answers)).toEqual(new Set(['unknown']));
    }
    expect(fresh.verify(secret), 'still known').toMatchObject({ id });
    expect(fresh.verify(invented.at(-1)!), 'answered from memory').toBe('unknown');
    await fresh.close();
  });

  test('a revocation during a read of the token is not overwritten by the earlier rows', async () => {
    const { id, secret } = await make();
    const { runtime } = shop.server;
    let revoked = false;
    // Between the two statements of a read.
    const sql = new Proxy(runtime.sql, {
      apply(target, self, args) {
        const text = (args[0] as string[]).join('');
        if (revoked || !text.includes('identity.shoppers')) return Reflect.apply(target, self, args);
        revoked = true;
        return here.revoke([id], 'cli').then(async () => {
          await sleep(50);
          return Reflect.apply(target, self, args);
        });
      },
    });
    const fresh = await openApiTokens({ ...runtime, sql });
    expect(await opens(fresh, secret)).toBe('revoked');
    expect(revoked).toBe(true);
    await fresh.close();
  });

  test('the last use is written later, for many tokens in one statement, at most once a minute', async () => {
    await ticks();
    const made: Awaited<ReturnType<typeof make>>[] = [];
    for (let n = 0; n < 5; n += 1) made.push(await make());
    const fresh = await openApiTokens(shop.server.runtime);
    for (const { secret } of made) await opens(fresh, secret);
    const used = async () =>
      (
        await shop.database.sql`
        select id, last_used_at from gateway.api_tokens where id = any(${made.map(({ id }) => id)}::bigint[]) order by id`
      ).map((row) => row.last_used_at?.getTime() ?? null);
    expect(await used()).toEqual([null, null, null, null, null]);
    const log = logStatements(shop);
    const writes = async () =>
      (await log.during(ticks)).texts.filter((text) => text.includes('last_used_at = due.at')).length;
    expect(await writes()).toBe(1);
    const first = await used();
    expect(first.every((at) => at !== null)).toBe(true);
    for (const { secret } of made) await opens(fresh, secret);
    expect(await writes()).toBe(0);
    expect(await used()).toEqual(first);
    await fresh.close();
    expect((await ask('GET', `${path}/${made[0]!.id}`)).data.last_used_at).not.toBeNull();
    // Two instances saw the use within a minute. The first one writes it.
    const { runtime } = shop.server;
    const later = (seconds: number) => ({ ...runtime, now: () => new Date(Date.now() + seconds * 1_000) });
    const two = [await openApiTokens(later(100)), await openApiTokens(later(130))];
    for (const tokens of two) await opens(tokens, made[0]!.secret);
    await two[0]!.close();
    const written = await used();
    expect(written[0]).toBeGreaterThan(first[0]! + 90_000);
    await two[1]!.close();
    expect(await used()).toEqual(written);
  });
});
