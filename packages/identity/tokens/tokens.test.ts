import { createHmac, randomBytes } from 'node:crypto';
import type { Route } from '@tradepost/http';
import { chinese } from '@tradepost/testing/routes/contract';
import { inputSchema, label, valid } from '@tradepost/testing/routes/inputs';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStaff } from '../index.ts';

/** Invalid tokens and tokens without the permission are refused by all routes. The test reads the list of routes. */
let shop: Shop;
let protectedRoutes: Route[];
beforeAll(async () => {
  shop = await openShop();
  protectedRoutes = shop.server.routes.filter((route) => route.auth !== 'public' && route.auth !== 'optional');
});
afterAll(() => shop?.close());

const concrete = (route: Route, id = 1) => route.path.replace(/:\w+/g, String(id));
const bodyOf = (route: Route) => (route.body ? valid(inputSchema(route.body)) : undefined);
const send = (
  route: Route,
  options: { token?: string; headers?: Record<string, string>; body?: unknown; lang?: string } = {},
  id = 1,
) =>
  shop.call(route.method, concrete(route, id), {
    body: route.method === 'GET' ? undefined : bodyOf(route),
    ...options,
  });

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
/** Claims of an administrator with all permissions, with the given changes. */
const claims = (over: object = {}) => {
  const now = Math.trunc(Date.now() / 1000);
  return { user_id: 1, role: 'admin', perms: ['*'], jti: 'forged', iat: now - 10, exp: now + 3600, ...over };
};
async function trueKey() {
  const [row] = await shop.database.sql<{ kid: string; secret: Buffer }[]>`
    select kid, secret from identity.signing_keys order by created_at desc limit 1`;
  return row!;
}
/** Signs a JWT by hand. The default key is the signing key of the shop. */
async function signed(payload: object, over: { secret?: Buffer; head?: object; hash?: 'sha256' | 'sha512' } = {}) {
  const { kid, secret } = await trueKey();
  const text = `${encode({ alg: 'HS256', kid, ...over.head })}.${encode(payload)}`;
  const signature = createHmac(over.hash ?? 'sha256', over.secret ?? secret)
    .update(text)
    .digest('base64url');
  return `${text}.${signature}`;
}

/** Invalid tokens. */
const forgeries: [string, () => string | Promise<string>][] = [
  ['garbage', () => 'garbage'],
  ['three parts of garbage', () => 'a.b.c'],
  ['dots', () => '..'],
  ['very long', () => 'x'.repeat(2_000)],
  ['expired', () => signed(claims({ iat: 1_000_000, exp: 1_000_100 }))],
  ['expired a second ago', () => signed(claims({ exp: Math.trunc(Date.now() / 1000) - 1 }))],
  ['not valid yet', () => signed(claims({ nbf: Math.trunc(Date.now() / 1000) + 3600 }))],
  ['alg none', () => `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims())}.`],
  [
    'alg none with a valid key id',
    async () => `${encode({ alg: 'none', kid: (await trueKey()).kid })}.${encode(claims())}.`,
  ],
  ['alg None', async () => `${encode({ alg: 'None', kid: (await trueKey()).kid })}.${encode(claims())}.x`],
  ['signed with another key', () => signed(claims(), { secret: randomBytes(32) })],
  ['signed without a key id', () => signed(claims(), { head: { kid: undefined } })],
  ['signed with a key id that is no text', () => signed(claims(), { head: { kid: 1 } })],
  ['signed with an inherited key id', () => signed(claims(), { head: { kid: '__proto__' } })],
  ['signed with an empty key id', () => signed(claims(), { head: { kid: '' } })],
  ['signed with an unknown key id', () => signed(claims(), { head: { kid: 'other' } })],
  ['another algorithm of the family', () => signed(claims(), { head: { alg: 'HS512' }, hash: 'sha512' })],
  ['the true signature under RS256', () => signed(claims(), { head: { alg: 'RS256' } })],
  ['the true signature under HS512', () => signed(claims(), { head: { alg: 'HS512' } })],
  ['the true signature under no algorithm', () => signed(claims(), { head: { alg: undefined } })],
  ['an unknown extension', () => signed(claims(), { head: { crit: ['x'], x: 1 } })],
  ['an unencoded payload', () => signed(claims(), { head: { b64: false, crit: ['b64'] } })],
  ['two tokens in one', async () => `${await signed(claims())}.${await signed(claims())}`],
  [
    'a valid token with other claims',
    async () => {
      const [head, , signature] = (await shop.server.tokens.issue({ role: 'user', id: 1, perms: [] })).split('.');
      return `${head}.${encode(claims())}.${signature}`;
    },
  ],
  [
    'a truncated valid token',
    async () => (await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] })).slice(0, -4),
  ],
  ['no user', () => signed(claims({ user_id: undefined }))],
  ['a user that is no id', () => signed(claims({ user_id: '1 or 1=1' }))],
  ['another role', () => signed(claims({ role: 'root' }))],
  ['user 0', () => signed(claims({ user_id: 0 }))],
  ['half a user', () => signed(claims({ user_id: 1.5 }))],
  ['no role', () => signed(claims({ role: undefined }))],
  ['both roles', () => signed(claims({ role: ['admin', 'user'] }))],
  ['permissions that are no list', () => signed(claims({ perms: '*' }))],
  ['no id of its own', () => signed(claims({ jti: undefined }))],
  ['no time of issue', () => signed(claims({ iat: undefined }))],
  ['issued in an hour', () => signed(claims({ iat: Math.trunc(Date.now() / 1000) + 3600 }))],
  ['an expiry that is no time', () => signed(claims({ exp: '2099-01-01' }))],
  ['a generation below nothing', () => signed(claims({ gen: -1 }))],
  ['no expiry', () => signed(claims({ exp: undefined }))],
];

/** Expects that these routes refuse this token. */
async function expectRefused(token: string, routes: readonly Route[]) {
  const refused = { status: 401, code: 401, message: 'Token invalid or expired' };
  const check = async (route: Route) => expect(await send(route, { token }), label(route)).toMatchObject(refused);
  await Promise.all(routes.map(check));
}

/** Expects that all routes with authentication refuse this token. With `of` only the routes of one kind of account. */
const expectNoToken = (token: string, of: readonly Route['auth'][] = ['shopper', 'staff', 'any']) =>
  expectRefused(
    token,
    protectedRoutes.filter((route) => of.includes(route.auth)),
  );

/** One check verifies the tokens of all routes. So each forgery meets another tenth of the routes, and each route several forgeries. */
const tenthOf = (routes: readonly Route[], forgery: number) => routes.filter((_, n) => n % 10 === forgery % 10);

describe('without a valid token', () => {
  test('every protected route answers "Please log in" with HTTP 401 before it checks anything else', async () => {
    for (const route of protectedRoutes)
      for (const options of [
        {},
        { token: '' },
        { headers: { authorization: 'Basic eDp5' } },
        { headers: { authorization: '' } },
      ]) {
        expect(await send(route, options), label(route)).toMatchObject({
          status: 401,
          code: 401,
          message: 'Please log in',
        });
        if (route.body && route.method !== 'GET')
          expect((await send(route, { ...options, body: { wrong: [] } })).status, label(route)).toBe(401);
        expect((await send(route, { ...options, lang: 'zh-CN' })).message).toMatch(chinese);
      }
  });

  test('a forged token is refused by every route', async () => {
    await expectNoToken(await signed(claims(), { secret: randomBytes(32) }));
  });

  test.each(forgeries.map(([what, forge], n) => [what, forge, n] as const))(
    '%s is refused',
    async (_what, forge, n) => {
      await expectRefused(await forge(), tenthOf(protectedRoutes, n));
    },
  );

  test.each(forgeries.map(([what, forge], n) => [what, forge, n] as const))(
    '%s counts as anonymous on public routes',
    async (_what, forge, n) => {
      const token = await forge();
      const publicRoutes = shop.server.routes.filter((r) => !protectedRoutes.includes(r));
      for (const route of tenthOf(publicRoutes, n))
        expect((await send(route, { token })).status, label(route)).toBe(200);
    },
  );

  test('a token that is signed by hand with the valid key is accepted', async () => {
    expect((await shop.call('GET', '/admin/api/orders', { token: await signed(claims()) })).code).toBe(0);
  });
});

describe('a token that was valid', () => {
  const ask = async (token: string, role: 'user' | 'admin') =>
    (await shop.call('GET', role === 'user' ? '/api/v1/orders' : '/admin/api/orders', { token })).code;

  test.each(['user', 'admin'] as const)(
    'is refused after its logout (%s), while another token of the account stays valid',
    async (role) => {
      const { id } = await shop.shopper();
      const issue = () => shop.server.tokens.issue({ role, id: role === 'user' ? id : 1, perms: ['*'] });
      const [ended, other] = [await issue(), await issue()];
      expect(await ask(ended, role)).toBe(0);
      expect((await shop.call('POST', '/api/auth/logout', { token: ended })).code).toBe(0);
      await expectNoToken(ended);
      expect(await ask(other, role)).toBe(0);
    },
  );

  test.each([
    ['disabled', 'PUT', { status: 0 }],
    ['given another role', 'PUT', { role_id: 0 }],
    ['given another password', 'PUT', { password: 'another-Password-2' }],
    ['deleted', 'DELETE', undefined],
  ])('of an administrator who was %s is refused', async (_what, method, change) => {
    const { sql } = shop.database;
    const root = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
    await createStaff(sql, { username: `first${Date.now()}`, password: 'first-Password-1' });
    const username = `second${Date.now()}`;
    const id = await createStaff(sql, { username, password: 'second-Password-1' });
    const token = (
      await shop.call('POST', '/admin/api/auth/login', { body: { username, password: 'second-Password-1' } })
    ).data.token;
    expect((await shop.call('GET', '/admin/api/orders', { token })).code).toBe(0);
    const role = await shop.call('POST', '/admin/api/roles', {
      token: root,
      body: { name: username, permissions: [] },
    });
    const body = change && 'role_id' in change ? { role_id: role.data.id } : change;
    const done = await shop.call(method, `/admin/api/admins/${id}`, { token: root, body });
    expect(done.code, done.message).toBe(0);
    await expectNoToken(token, ['staff', 'any']);
  });

  test('of a shopper who deleted the account is refused', async () => {
    const { id, token } = await shop.shopper();
    const phone = '13911119999';
    await shop.database.sql`update identity.shoppers set phone = ${phone} where id = ${id}`;
    const { data } = await shop.call('POST', '/api/v1/auth/sms/send', { body: { phone } });
    const deleted = await shop.call('POST', '/api/v1/user/delete', { token, body: { phone, code: data.dev_code } });
    expect(deleted.code, deleted.message).toBe(0);
    await expectNoToken(token, ['shopper', 'any']);
  });
});

describe('with the wrong kind of account', () => {
  const refused = { status: 200, code: 403, message: 'No permission' };
  test('an administrator cannot use shopper routes, although the ids overlap', async () => {
    const { id } = await shop.shopper();
    const token = await shop.server.tokens.issue({ role: 'admin', id, perms: ['*'] });
    for (const route of protectedRoutes.filter((r) => r.auth === 'shopper')) {
      expect(await send(route, { token }), label(route)).toMatchObject(refused);
      expect((await send(route, { token, lang: 'zh-CN' })).message).toMatch(chinese);
    }
  });

  test('a shopper cannot use staff routes, whatever permissions the token has', async () => {
    const { id } = await shop.shopper();
    for (const token of [
      await shop.server.tokens.issue({ role: 'user', id, perms: [] }),
      await signed(claims({ role: 'user', user_id: id })),
    ])
      for (const route of protectedRoutes.filter((r) => r.auth === 'staff'))
        expect(await send(route, { token }), label(route)).toMatchObject(refused);
  });

  test('all routes under /admin/api and /api/admin except login and callbacks need an administrator, routes under /api/v1 do not', () => {
    // The login returns the token; the callback is signed by the warehouse.
    const open = ['/admin/api/auth/login', '/admin/api/external-wms/callback'];
    for (const route of shop.server.routes) {
      if (/^\/(admin\/api|api\/admin)\//.test(route.path) && !open.includes(route.path))
        expect(['staff'], label(route)).toContain(route.auth);
      if (route.path.startsWith('/api/v1/'))
        expect(['public', 'optional', 'shopper'], label(route)).toContain(route.auth);
    }
  });
});

describe('without the permission', () => {
  test('every staff route with a permission refuses and names the permission', async () => {
    const staff = shop.server.routes.filter((route) => route.auth === 'staff' && route.permission);
    expect(staff.length).toBeGreaterThan(0);
    const all = [...new Set(staff.map((route) => route.permission!))];
    for (const route of staff) {
      const others = all.filter((code) => code !== route.permission);
      // Codes that are similar to the required one.
      const near = [
        ...others,
        `${route.permission}s`,
        route.permission!.split(':')[0]!,
        `${route.permission!.split(':')[0]}:*`,
        '**',
        ' *',
        route.permission!.toUpperCase(),
      ];
      for (const perms of [[], others, near]) {
        const token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms });
        expect(await send(route, { token }), label(route)).toMatchObject({
          status: 200,
          code: 403,
          message: `No permission: ${route.permission}`,
        });
      }
      for (const perms of [[route.permission!], ['*']])
        expect(
          (await send(route, { token: await shop.server.tokens.issue({ role: 'admin', id: 1, perms }) }, 2 ** 40)).code,
          label(route),
        ).not.toBe(403);
    }
  });
});
