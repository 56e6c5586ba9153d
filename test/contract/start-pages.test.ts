import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** The requests of the clients when they start. None may fail, because a start page shows each failure to its user. */
let shop: Shop;
beforeAll(async () => {
  shop = await openShop({ seed: 'demo' });
});
afterAll(() => shop?.close());

/** The address of a client beside the route that serves it. */
type StartCall = { route: string; path: string };
const get = (route: string, query = '', path = route): StartCall => ({ route: `GET ${route}`, path: path + query });

const consolePage: readonly StartCall[] = [
  get('/admin/api/menus'),
  get('/admin/api/dashboard'),
  get('/admin/api/dashboard', '?range=7d'),
  get('/admin/api/dashboard', '?range=1w&start_date=&end_date='),
  get('/admin/api/dashboard', '?range=1m'),
];
const merchantApp: readonly StartCall[] = [
  get('/admin/api/dashboard'),
  get('/admin/api/menus'),
  get('/admin/api/shops/current'),
  get('/admin/api/announcements', '?page=1&size=20'),
  get('/admin/api/announcements', '?page=&size='),
];
const webShop: readonly StartCall[] = [
  get('/api/v1/site-settings'),
  get('/api/v1/decor/:page_key', '', '/api/v1/decor/pc'),
  get('/api/v1/products', '?page=1&size=8'),
];
const appShop: readonly StartCall[] = [
  get('/api/v1/index/decor'),
  get('/api/v1/products', '?page=1&size=10'),
  get('/api/v1/products', '?keyword=&category_id=&page=1&size=10'),
];

const isServed = ({ route }: StartCall) => shop.server.routes.some(({ method, path }) => `${method} ${path}` === route);

async function expectAllServed(calls: readonly StartCall[], token: string | undefined) {
  expect(calls.filter((call) => !isServed(call))).toEqual([]);
  const answers = await Promise.all(
    calls.filter(isServed).map(async ({ path }) => {
      const { status, code } = await shop.call('GET', path, token === undefined ? {} : { token });
      return { path, status, code };
    }),
  );
  expect(answers.filter(({ status, code }) => status !== 200 || code !== 0)).toEqual([]);
}

const login = async () => {
  const body = { username: 'admin', password: 'admin123' };
  const { code, data } = await shop.call('POST', '/admin/api/auth/login', { body });
  expect(code).toBe(0);
  return data.token as string;
};

describe('the console', () => {
  test('starts after the first login of a browser, which has no token for the account switcher yet', async () => {
    const token = await login();
    // The console sends these two before it stores the token, and ignores their failure. They have to be an envelope.
    for (const path of ['/admin/api/admins', '/admin/api/roles'])
      expect(await shop.call('GET', path)).toMatchObject({ status: 401, code: 401, data: null });
    await expectAllServed(consolePage, token);
  });

  test('starts after a change of the account, and names its role by the token of the account before', async () => {
    const before = await login();
    const token = await login();
    const [admins, roles] = await Promise.all(
      ['/admin/api/admins', '/admin/api/roles'].map((path) => shop.call('GET', path, { token: before })),
    );
    const own = admins!.data.find((row: { username: string }) => row.username === 'admin');
    expect(roles!.data.find((role: { id: number }) => role.id === own.role_id).permissions).toEqual(['*']);
    await expectAllServed(consolePage, token);
  });

  test('starts for an administrator of any role', async () => {
    const [, ...roles] = (await shop.call('GET', '/admin/api/roles', { token: await login() })).data;
    for (const { permissions } of roles)
      await expectAllServed(
        consolePage,
        await shop.server.tokens.issue({ role: 'admin', id: 1, perms: permissions, generation: 2 ** 40 }),
      );
  });
});

test('the merchant app starts after a login', async () => {
  await expectAllServed(merchantApp, await login());
});

test('the web shop starts for a visitor, and with the token of a shopper', async () => {
  await expectAllServed(webShop, undefined);
  await expectAllServed(webShop, await shop.login('demo', 'demo123456'));
});

test('the shop app starts with an empty token, an expired one and that of a shopper', async () => {
  await expectAllServed(appShop, '');
  await expectAllServed(appShop, 'expired.token.of-an-earlier-login');
  await expectAllServed(appShop, await shop.login('demo', 'demo123456'));
});
