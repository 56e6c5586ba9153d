import type { Route } from '@tradepost/http';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { idName } from '@tradepost/testing/routes/ids';
import { inputSchema, label, valid } from '@tradepost/testing/routes/inputs';
import { openRouteRequests } from '@tradepost/testing/routes/route-requests';
import { changedTables, openOwnedRows } from '@tradepost/testing/routes/table-contents';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** An account cannot read or change the data of another account. The tests use all routes, so new routes are included. */
let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

const concrete = (route: Route, id = 1) => route.path.replace(/:\w+/g, String(id));
const bodyOf = (route: Route) => (route.body ? valid(inputSchema(route.body)) : undefined);

describe('the data of another shopper', () => {
  /** Creates a shopper with two addresses, a cart, an unpaid and a paid order. */
  async function createShopper() {
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
  test('a request with the ids of another shopper, in path, query or body, shows and changes nothing of theirs', async () => {
    const ann = await openRouteRequests(shop);
    const { id } = ann.owner;
    const hidden = { name: 'Annabel Hidden', phone: '13912345678', detail: '77 Hidden Lane' };
    await shop.database.sql`update identity.addresses set ${shop.database.sql(hidden)} where user_id = ${id}`;
    const ownedRows = await openOwnedRows(shop.database);
    const attacker = (await shop.shopper()).id;
    const succeeded = new Set<Route>();
    const routes = shop.server.routes.filter((route) => ['shopper', 'any', 'optional'].includes(route.auth));
    for (const route of routes) {
      const idParameters = route.query
        ? Object.keys(inputSchema(route.query).properties ?? {}).filter((n) => idName.test(n))
        : [];
      for (const query of idParameters.length > 0 ? idParameters : [undefined])
        for (const order of ['unpaid', 'paid', 'shipped'] as const) {
          const options = { order, large: false, ...(query ? { query } : {}) };
          const { path, query: search, body, kinds } = await ann.fill(route, options);
          const before = await ownedRows(id);
          const token = await shop.server.tokens.issue({ role: 'user', id: attacker, perms: [] });
          const answer = await shop.call(route.method, path + search, { token, body });
          const at = `${label(route)}: ${route.method} ${path}${search} ${JSON.stringify(body)}`;
          expect(changedTables(before, await ownedRows(id)), `${at} changed rows of another shopper`).toEqual([]);
          const numbers = await shop.database.sql<
            { no: string }[]
          >`select order_no as no from orders.orders where user_id = ${id}`;
          const text = JSON.stringify(answer.body);
          const secrets = [ann.owner.username, ...Object.values(hidden), ...numbers.map((row) => row.no)];
          expect(
            secrets.filter((secret) => text.includes(secret)),
            `${at} shows data of another shopper`,
          ).toEqual([]);
          // The owner sends the same request: the refusal above must not have another reason.
          const own = await shop.call(route.method, path + search, {
            token: (await ann.tokenFor(route)) as string,
            body,
          });
          if (own.code === 0) succeeded.add(route);
          if (!kinds.has('orders')) break;
        }
    }
    const refusedToOwner = routes.filter((route) => !succeeded.has(route)).map(label);
    expect(
      refusedToOwner.length,
      `refused to the owner too, so nothing is proved: ${refusedToOwner.join(', ')}`,
    ).toBeLessThan(routes.length / 10);
  });

  test('no route shows or changes the data, with any id of the owner in the place of any id', async () => {
    const ann = await createShopper();
    const secrets = [
      ann.username,
      '13800000000',
      '13900000000',
      String((await shop.call('GET', `/api/v1/orders/${ann.paid}`, { token: ann.token })).data.order_no),
    ];
    const ownedRows = await openOwnedRows(shop.database);
    const before = await ownedRows(ann.id);
    const ids = [ann.id, ann.address_id, ann.address_id + 1, ann.unpaid, ann.paid, ...ann.sku_ids];
    // The attacker owns nothing, so all data in an answer is of another account.
    const [row] = await shop.database.sql<
      { id: number }[]
    >`insert into identity.shoppers (username, nickname) values ('attacker', 'attacker') returning id`;
    const attacker = { role: 'user', id: row!.id, perms: [] } as const;
    /** The example of the route with every number replaced. */
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
        const token = await shop.server.tokens.issue(attacker);
        const body =
          route.body && route.method !== 'GET'
            ? { ...(withId(bodyOf(route), id) as object), user_id: ann.id }
            : undefined;
        const answer = await shop.call(route.method, `${concrete(route, id)}?user_id=${ann.id}&userId=${ann.id}`, {
          token,
          body,
        });
        // The attacker may add an address. It has the phone of the example.
        for (const secret of secrets)
          if (route.path !== '/api/v1/addresses')
            expect(JSON.stringify(answer.body), label(route)).not.toContain(secret);
        expect(changedTables(before, await ownedRows(ann.id)), `${label(route)} with ${id}`).toEqual([]);
      }
  });

  test('lists show only the rows of the shopper who asks', async () => {
    const [ann, bob] = [await createShopper(), await createShopper()];
    for (const path of ['/api/v1/cart', '/api/v1/addresses', '/api/v1/orders']) {
      const idsOf = async (token: string) => {
        const { data } = await shop.call('GET', path, { token });
        return (data.list ?? data).map((row: { id?: number; sku_id: number }) => row.id ?? row.sku_id) as number[];
      };
      const [annIds, bobIds] = [await idsOf(ann.token), await idsOf(bob.token)];
      expect(annIds.length).toBeGreaterThan(0);
      expect(annIds.filter((id) => bobIds.includes(id))).toEqual([]);
    }
  });

  test.each([
    ['see an order', 'GET', (ann: Awaited<ReturnType<typeof createShopper>>) => `/api/v1/orders/${ann.paid}`, 404],
    [
      'pay an order',
      'POST',
      (ann: Awaited<ReturnType<typeof createShopper>>) => `/api/v1/orders/${ann.unpaid}/pay`,
      500,
    ],
    [
      'cancel an order',
      'POST',
      (ann: Awaited<ReturnType<typeof createShopper>>) => `/api/v1/orders/${ann.unpaid}/cancel`,
      500,
    ],
    [
      'change an address',
      'PUT',
      (ann: Awaited<ReturnType<typeof createShopper>>) => `/api/v1/addresses/${ann.address_id}`,
      404,
    ],
    [
      'remove an address',
      'DELETE',
      (ann: Awaited<ReturnType<typeof createShopper>>) => `/api/v1/addresses/${ann.address_id}`,
      404,
    ],
  ])(
    'an unauthorized account cannot %s, and the answer is the same as for a missing object',
    async (_action, method, path, code) => {
      const [ann, bob] = [await createShopper(), await createShopper()];
      const body = method === 'PUT' ? { name: 'Bob', phone: '13700000000', is_default: 1 } : undefined;
      const unauthorized = await shop.call(method, path(ann), { token: bob.token, body });
      const missing = await shop.call(method, path(ann).replace(/\d+(?=\/\w+$|$)/, String(2 ** 40)), {
        token: bob.token,
        body,
      });
      expect(unauthorized).toMatchObject({ status: 200, code });
      expect({ ...unauthorized.body }).toEqual({ ...missing.body });
    },
  );

  test('an order to the address of another shopper is refused', async () => {
    const [ann, bob] = [await createShopper(), await createShopper()];
    const answer = await shop.call('POST', '/api/v1/orders', {
      token: bob.token,
      body: { address_id: ann.address_id, items: [{ sku_id: ann.sku_ids[0] }] },
    });
    expect(answer).toMatchObject({ code: 20001, message: 'Delivery address not found' });
  });

  test('after these requests the audits pass', async () => {
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });
});
