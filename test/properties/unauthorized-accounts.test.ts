import type { Route } from '@tradepost/http';
import { invariantErrors } from '@tradepost/testing/invariants';
import { idName } from '@tradepost/testing/routes/ids';
import { inputSchema, label, valid } from '@tradepost/testing/routes/inputs';
import { openRouteRequests } from '@tradepost/testing/routes/route-requests';
import { changed, openBelongings } from '@tradepost/testing/routes/traces';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Nobody gets at what is another's. Walks all routes: a new one is covered by being there. */
let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

const concrete = (route: Route, id = 1) => route.path.replace(/:\w+/g, String(id));
const bodyOf = (route: Route) => (route.body ? valid(inputSchema(route.body)) : undefined);

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
  test('whatever a route takes of theirs, by path, query or body, stays theirs', async () => {
    const ann = await openRouteRequests(shop);
    const { id } = ann.owner;
    const hidden = { name: 'Annabel Hidden', phone: '13912345678', detail: '77 Hidden Lane' };
    await shop.database.sql`update identity.addresses set ${shop.database.sql(hidden)} where user_id = ${id}`;
    const belongings = await openBelongings(shop.database);
    const thief = (await shop.shopper()).id;
    const worked = new Set<Route>();
    const routes = shop.server.routes.filter((route) => ['shopper', 'any', 'optional'].includes(route.auth));
    for (const route of routes) {
      const named = route.query
        ? Object.keys(inputSchema(route.query).properties ?? {}).filter((n) => idName.test(n))
        : [];
      for (const query of named.length > 0 ? named : [undefined])
        for (const order of ['unpaid', 'paid', 'shipped'] as const) {
          const wish = { order, large: false, ...(query ? { query } : {}) };
          const { path, query: search, body, kinds } = await ann.fill(route, wish);
          const before = await belongings(id);
          const token = await shop.server.tokens.issue({ role: 'user', id: thief, perms: [] });
          const answer = await shop.call(route.method, path + search, { token, body });
          const at = `${label(route)}: ${route.method} ${path}${search} ${JSON.stringify(body)}`;
          expect(changed(before, await belongings(id)), `${at} changed what is another's`).toEqual([]);
          const numbers = await shop.database.sql<
            { no: string }[]
          >`select order_no as no from orders.orders where user_id = ${id}`;
          const text = JSON.stringify(answer.body);
          const secrets = [ann.owner.username, ...Object.values(hidden), ...numbers.map((row) => row.no)];
          expect(
            secrets.filter((secret) => text.includes(secret)),
            `${at} shows what is another's`,
          ).toEqual([]);
          // The same is right for its owner: it is refused for whose it is, and not for what it is.
          const own = await shop.call(route.method, path + search, {
            token: (await ann.tokenFor(route)) as string,
            body,
          });
          if (own.code === 0) worked.add(route);
          if (!kinds.has('orders')) break;
        }
    }
    const vain = routes.filter((route) => !worked.has(route)).map(label);
    expect(vain.length, `refused to everybody, which proves nothing: ${vain.join(', ')}`).toBeLessThan(
      routes.length / 10,
    );
  });

  test('no route shows or changes them, whichever of their ids is put wherever an id goes', async () => {
    const ann = await victim();
    const secrets = [
      ann.username,
      '13800000000',
      '13900000000',
      String((await shop.call('GET', `/api/v1/orders/${ann.paid}`, { token: ann.token })).data.order_no),
    ];
    const belongings = await openBelongings(shop.database);
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
        expect(changed(before, await belongings(ann.id)), `${label(route)} with ${id}`).toEqual([]);
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
