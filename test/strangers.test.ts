import { createHmac, randomBytes } from 'node:crypto';
import type { Route } from '@tradepost/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chinese } from './harness/contract.ts';
import { inputSchema, label, valid } from './harness/inputs.ts';
import { invariantErrors } from './harness/invariants.ts';
import { insertProduct, openShop, type Shop } from './harness/shop.ts';

/** Nobody gets at what is not theirs. Walks all routes: a new one is covered by being there. */
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
/** Claims of an administrator who may do everything, with whatever is wrong about them. */
const claims = (over: object = {}) => {
  const now = Math.trunc(Date.now() / 1000);
  return { user_id: 1, role: 'admin', perms: ['*'], jti: 'forged', iat: now - 10, exp: now + 3600, ...over };
};
async function trueKey() {
  const [row] = await shop.database.sql<{ kid: string; secret: Buffer }[]>`
    select kid, secret from identity.signing_keys order by created_at desc limit 1`;
  return row!;
}
/** A JWT made by hand, with the true key unless another is given. */
async function signed(payload: object, over: { secret?: Buffer; head?: object; hash?: 'sha256' | 'sha512' } = {}) {
  const { kid, secret } = await trueKey();
  const text = `${encode({ alg: 'HS256', kid, ...over.head })}.${encode(payload)}`;
  const signature = createHmac(over.hash ?? 'sha256', over.secret ?? secret)
    .update(text)
    .digest('base64url');
  return `${text}.${signature}`;
}

/** Everything that is no valid token. */
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
    'alg none with our key id',
    async () => `${encode({ alg: 'none', kid: (await trueKey()).kid })}.${encode(claims())}.`,
  ],
  ['alg None', async () => `${encode({ alg: 'None', kid: (await trueKey()).kid })}.${encode(claims())}.x`],
  ['signed with another key', () => signed(claims(), { secret: randomBytes(32) })],
  ['signed with an empty key id', () => signed(claims(), { head: { kid: '' } })],
  ['signed with an unknown key id', () => signed(claims(), { head: { kid: 'other' } })],
  ['another algorithm of the family', () => signed(claims(), { head: { alg: 'HS512' }, hash: 'sha512' })],
  [
    'a true token with other claims',
    async () => {
      const [head, , signature] = (await shop.server.tokens.issue({ role: 'user', id: 1, perms: [] })).split('.');
      return `${head}.${encode(claims())}.${signature}`;
    },
  ],
  [
    'a true token cut short',
    async () => (await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] })).slice(0, -4),
  ],
  ['no user', () => signed(claims({ user_id: undefined }))],
  ['a user that is no id', () => signed(claims({ user_id: '1 or 1=1' }))],
  ['another role', () => signed(claims({ role: 'root' }))],
  ['no expiry', () => signed(claims({ exp: undefined }))],
];

describe('without a valid token', () => {
  test('every protected route says "Please log in" with HTTP 401, before it looks at anything else', async () => {
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

  test.each(forgeries)('%s is no token', async (_what, forge) => {
    const token = await forge();
    for (const route of protectedRoutes)
      expect(await send(route, { token }), label(route)).toMatchObject({
        status: 401,
        code: 401,
        message: 'Token invalid or expired',
      });
  });

  test.each(forgeries)('%s counts as anonymous where no token is needed', async (_what, forge) => {
    const token = await forge();
    for (const route of shop.server.routes.filter((r) => !protectedRoutes.includes(r)))
      expect((await send(route, { token })).status, label(route)).toBe(200);
  });

  test('our own forging works: the same claims with the true key are a token', async () => {
    expect((await shop.call('GET', '/admin/api/orders', { token: await signed(claims()) })).code).toBe(0);
  });
});

describe('with the wrong kind of account', () => {
  const refused = { status: 200, code: 403, message: 'No permission' };
  test('an administrator is no shopper, though the ids of the two overlap', async () => {
    const { id } = await shop.shopper();
    const token = await shop.server.tokens.issue({ role: 'admin', id, perms: ['*'] });
    for (const route of protectedRoutes.filter((r) => r.auth === 'shopper')) {
      expect(await send(route, { token }), label(route)).toMatchObject(refused);
      expect((await send(route, { token, lang: 'zh-CN' })).message).toMatch(chinese);
    }
  });

  test('a shopper is no administrator, whatever the token says they may do', async () => {
    const { id } = await shop.shopper();
    for (const token of [
      await shop.server.tokens.issue({ role: 'user', id, perms: [] }),
      await signed(claims({ role: 'user', user_id: id })),
    ])
      for (const route of protectedRoutes.filter((r) => r.auth === 'staff'))
        expect(await send(route, { token }), label(route)).toMatchObject(refused);
  });

  test('everything under /admin/api but the login needs an administrator, and under /api/v1 nothing does', () => {
    for (const route of shop.server.routes) {
      if (route.path.startsWith('/admin/api/') && route.path !== '/admin/api/auth/login')
        expect(['staff'], label(route)).toContain(route.auth);
      if (route.path.startsWith('/api/v1/'))
        expect(['public', 'optional', 'shopper'], label(route)).toContain(route.auth);
    }
  });
});

describe('without the permission', () => {
  test('every staff route that names one refuses, and names it', async () => {
    const staff = shop.server.routes.filter((route) => route.auth === 'staff' && route.permission);
    expect(staff.length).toBeGreaterThan(0);
    const all = [...new Set(staff.map((route) => route.permission!))];
    for (const route of staff) {
      const others = all.filter((code) => code !== route.permission);
      // Codes that only look like the right one.
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

describe("another shopper's things", () => {
  /** A shopper with one of everything: two addresses, a cart, orders in several states. */
  async function victim() {
    const ann = await shop.shopper();
    const { sku_ids } = await insertProduct(shop.database, { stocks: [50, 50] });
    const buy = async () =>
      (
        await shop.call('POST', '/api/v1/orders', {
          token: ann.token,
          body: { address_id: ann.address_id, items: [{ sku_id: sku_ids[1] }] },
        })
      ).data.id as number;
    const unpaid = await buy();
    const paid = await buy();
    await shop.call('POST', `/api/v1/orders/${paid}/pay`, { token: ann.token });
    await shop.call('POST', '/api/v1/addresses', { token: ann.token, body: { name: 'Work', phone: '13900000000' } });
    await shop.call('POST', '/api/v1/cart/add', { token: ann.token, body: { sku_id: sku_ids[0], qty: 3 } });
    return { ...ann, sku_ids, unpaid, paid };
  }
  /** Every row that is the shopper's. */
  async function belongings(id: number): Promise<string> {
    const { sql } = shop.database;
    const rows = [
      await sql`select * from identity.shoppers where id = ${id}`,
      await sql`select * from identity.addresses where user_id = ${id} order by id`,
      await sql`select * from orders.cart_lines where user_id = ${id} order by id`,
      await sql`select * from orders.orders where user_id = ${id} order by id`,
      await sql`select h.* from orders.order_history h join orders.orders o on o.id = h.order_id where o.user_id = ${id} order by h.id`,
      await sql`select p.* from orders.payments p join orders.orders o on o.id = p.order_id where o.user_id = ${id} order by p.id`,
      await sql`select r.* from inventory.inventory_reservation r join orders.orders o on o.order_no = r.biz_no where o.user_id = ${id} order by biz_no`,
    ];
    return JSON.stringify(rows);
  }

  test('no route shows or changes them, whichever of their ids is put wherever an id goes', async () => {
    const ann = await victim();
    const secrets = [
      ann.username,
      '13800000000',
      '13900000000',
      String((await shop.call('GET', `/api/v1/orders/${ann.paid}`, { token: ann.token })).data.order_no),
    ];
    const before = await belongings(ann.id);
    const ids = [ann.id, ann.address_id, ann.address_id + 1, ann.unpaid, ann.paid, ...ann.sku_ids];
    // The thief owns nothing, so that nothing in an answer can be their own.
    const [row] = await shop.database.sql<
      { id: number }[]
    >`insert into identity.shoppers (username, nickname) values ('thief', 'thief') returning id`;
    const thief = { role: 'user', id: row!.id, perms: [] } as const;
    /** The route's example with every number in it replaced. */
    const withId = (value: unknown, id: number): unknown =>
      typeof value === 'number'
        ? id
        : Array.isArray(value)
          ? value.map((part) => withId(part, id))
          : typeof value === 'object' && value !== null
            ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withId(part, id)]))
            : value;
    for (const route of shop.server.routes.filter((r) => r.auth === 'shopper' || r.auth === 'any'))
      for (const id of ids) {
        const token = await shop.server.tokens.issue(thief);
        const body =
          route.body && route.method !== 'GET'
            ? { ...(withId(bodyOf(route), id) as object), user_id: ann.id }
            : undefined;
        const answer = await shop.call(route.method, `${concrete(route, id)}?user_id=${ann.id}&userId=${ann.id}`, {
          token,
          body,
        });
        // An address the thief adds is the example's, whose phone is not Ann's.
        for (const secret of secrets)
          if (route.path !== '/api/v1/addresses')
            expect(JSON.stringify(answer.body), label(route)).not.toContain(secret);
        expect(await belongings(ann.id), `${label(route)} with ${id}`).toBe(before);
      }
  });

  test('lists show only what is mine', async () => {
    const [ann, bob] = [await victim(), await victim()];
    for (const path of ['/api/v1/cart', '/api/v1/addresses', '/api/v1/orders']) {
      const idsOf = async (token: string) => {
        const { data } = await shop.call('GET', path, { token });
        return (data.list ?? data).map((row: { id?: number; sku_id: number }) => row.id ?? row.sku_id) as number[];
      };
      const [mine, theirs] = [await idsOf(ann.token), await idsOf(bob.token)];
      expect(mine.length).toBeGreaterThan(0);
      expect(mine.filter((id) => theirs.includes(id))).toEqual([]);
    }
  });

  test.each([
    ['see an order', 'GET', (ann: Awaited<ReturnType<typeof victim>>) => `/api/v1/orders/${ann.paid}`, 404],
    ['pay an order', 'POST', (ann: Awaited<ReturnType<typeof victim>>) => `/api/v1/orders/${ann.unpaid}/pay`, 500],
    [
      'cancel an order',
      'POST',
      (ann: Awaited<ReturnType<typeof victim>>) => `/api/v1/orders/${ann.unpaid}/cancel`,
      500,
    ],
    [
      'change an address',
      'PUT',
      (ann: Awaited<ReturnType<typeof victim>>) => `/api/v1/addresses/${ann.address_id}`,
      404,
    ],
    [
      'remove an address',
      'DELETE',
      (ann: Awaited<ReturnType<typeof victim>>) => `/api/v1/addresses/${ann.address_id}`,
      404,
    ],
  ])('a stranger can not %s, and can not tell it from a missing one', async (_what, method, path, code) => {
    const [ann, bob] = [await victim(), await victim()];
    const body = method === 'PUT' ? { name: 'Bob', phone: '13700000000', is_default: 1 } : undefined;
    const foreign = await shop.call(method, path(ann), { token: bob.token, body });
    const missing = await shop.call(method, path(ann).replace(/\d+(?=\/\w+$|$)/, String(2 ** 40)), {
      token: bob.token,
      body,
    });
    expect(foreign).toMatchObject({ status: 200, code });
    expect({ ...foreign.body }).toEqual({ ...missing.body });
  });

  test("an order to another shopper's address is refused", async () => {
    const [ann, bob] = [await victim(), await victim()];
    const answer = await shop.call('POST', '/api/v1/orders', {
      token: bob.token,
      body: { address_id: ann.address_id, items: [{ sku_id: ann.sku_ids[0] }] },
    });
    expect(answer).toMatchObject({ code: 20001, message: 'Delivery address not found' });
  });

  test('afterwards the books are right', async () => {
    expect(await invariantErrors(shop.database)).toEqual([]);
  });
});
