import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Route } from '@tradepost/http';
import type { Answer, CallOptions } from '@tradepost/testing/client';
import { sendCallback, warehouseAccount } from '@tradepost/testing/external-shop';
import { inputSchema, label, valid } from '@tradepost/testing/routes/inputs';
import { openRouteRequests, type RequestOptions, type RouteRequests } from '@tradepost/testing/routes/route-requests';
import { notify, paySecret } from '@tradepost/testing/servers/payment-gateway';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { logStatements, type StatementLog, settingsReload } from '@tradepost/testing/statements';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

/**
 * Every route has a statement budget that does not depend on the page size, the number of order lines or the number of ids. A
 * query in a loop fails here before it slows a shop with much data. The tests use all routes, so new routes are measured.
 */
let shop: Shop;
let requests: RouteRequests;
let statements: StatementLog;
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  shop = await openShop();
  requests = await openRouteRequests(shop);
  await shop.server.runtime.settings.set('pay.sandbox.secret', paySecret);
  await shop.server.runtime.settings.set('external_wms.app_key', warehouseAccount.appKey);
  await shop.server.runtime.settings.set('external_wms.app_secret', warehouseAccount.appSecret);
  statements = logStatements(shop);
});
afterAll(async () => {
  vi.useRealTimers();
  await shop?.close();
});

/** The statements that an Idempotency-Key adds: for its claim, its answer, and the outcome if the use case records one. */
const statementsForKey = (route: Route) => (route.repeat === 'recorded' ? 3 : 2);

const isCountOfKeys = (text: string) =>
  /select count\(\*\)::int as n\s+from \(select from runtime\.idempotency_keys/.test(text);

type Measured = { most: number; texts: string[]; withKey: number; successes: number; refusals: Set<string> };
const measured = new Map<Route, Measured>();

async function measure(route: Route, call: (headers?: Record<string, string>) => Promise<Answer>, key = false) {
  // Notifications of earlier changes must arrive before the measurement.
  await sleep(5);
  const sent = await statements.during(() => call(key ? { 'idempotency-key': randomUUID() } : {}));
  const { value } = sent;
  // Every 256th claim of a caller also counts the keys of the caller. A GET changes no setting: a reload during it follows an earlier
  // change, whose notification arrived late.
  const isLate = (text: string) => route.method === 'GET' && text === settingsReload;
  const texts = sent.texts.filter((text) => !isCountOfKeys(text) && !isLate(text));
  const entry = measured.get(route) ?? { most: -1, texts: [], withKey: 0, successes: 0, refusals: new Set() };
  measured.set(route, entry);
  if (value.code === 0) entry.successes += 1;
  else entry.refusals.add(`${value.code} ${value.message}`);
  if (key) entry.withKey = Math.max(entry.withKey, texts.length);
  else if (texts.length > entry.most) Object.assign(entry, { most: texts.length, texts });
}

async function measureFilled(route: Route, requestOptions: RequestOptions, key = false) {
  const { path, query, body, kinds } = await requests.fill(route, requestOptions);
  const token = await requests.tokenFor(route);
  const options: CallOptions = token === undefined ? { body } : { token, body };
  await measure(route, (headers) => shop.call(route.method, path + query, { ...options, headers }), key);
  return kinds;
}

/** Measures each filter separately, because some filters read other tables. */
async function measureFilters(route: Route) {
  const { path, query } = await requests.fill(route, { order: 'unpaid', large: true });
  const token = await requests.tokenFor(route);
  const fields = Object.entries(valid(inputSchema(route.query!)) as object);
  for (const [name, value] of fields.filter(([, value]) => typeof value !== 'object')) {
    const url = `${path}${query || '?'}&${new URLSearchParams({ [name]: String(value) })}`;
    await measure(route, () => shop.call('GET', url, token === undefined ? {} : { token }));
  }
}

/** Routes that need more preparation than objects of the right kind. */
const special: Record<string, (route: Route) => Promise<void>> = {
  'POST /api/v1/auth/sms/login': async (route) => {
    const phone = '13911110000';
    for (const _ of ['a new shopper', 'a known shopper']) {
      const { data } = await shop.call('POST', '/api/v1/auth/sms/send', { body: { phone } });
      const body = { phone, code: data.dev_code };
      await measure(route, () => shop.call('POST', route.path, { body }));
    }
  },
  'POST /api/v1/user/delete': async (route) => {
    const phone = '13911110001';
    const { id, token } = await shop.shopper();
    await shop.database.sql`update identity.shoppers set phone = ${phone} where id = ${id}`;
    const { data } = await shop.call('POST', '/api/v1/auth/sms/send', { body: { phone } });
    await measure(route, () => shop.call('POST', route.path, { token, body: { phone, code: data.dev_code } }));
  },
  // A file has one statement per piece. The requests of this test leave more changes than one piece has.
  'GET /admin/api/change-log/export': async (route) => {
    await measure(route, () => shop.call('GET', `${route.path}?row_id=1&table=products`, { token: requests.staff }));
  },
  'POST /admin/api/external-wms/callback': async (route) => {
    for (const task of await requests.make('/admin/api/inventory/tasks', 2, { order: 'unpaid', large: true })) {
      await shop.call('POST', `/admin/api/inventory/tasks/${task}/retry`, { token: requests.staff });
      const [row] = await shop.database
        .sql`select request_id from inventory.inventory_integration_tasks where id = ${Number(task)}`;
      for (const status of ['processing', 'success', 'success'])
        await measure(route, () => sendCallback(shop, { request_id: row!.request_id, status }));
    }
    await measure(route, () => sendCallback(shop, { request_id: 'order:0:reserve', status: 'success' }));
  },
  'POST /api/pay/callback': async (route) => {
    for (const payment_no of await requests.make('/api/pay', 2, { order: 'unpaid', large: true })) {
      const [row] = await shop.database.sql`select amount from orders.payments where payment_no = ${payment_no}`;
      const notice = { payment_no: String(payment_no), trade_no: `T${payment_no}`, amount: row!.amount / 100 };
      for (const _ of ['first', 'repeated']) await measure(route, () => notify(shop, notice));
    }
  },
};

async function measureAll(route: Route): Promise<void> {
  for (const large of [false, true])
    for (const order of ['unpaid', 'paid', 'shipped'] as const) {
      const kinds = await measureFilled(route, { order, large });
      if (route.method !== 'GET' && order === 'unpaid') await measureFilled(route, { order, large }, true);
      if (!kinds.has('orders')) break;
    }
  if (route.params || route.body) await measureFilled(route, { order: 'paid', large: true, missing: true });
  if (route.method === 'GET' && route.query) await measureFilters(route);
  await special[label(route)]?.(route);
}

test('every route declares its statement budget', () => {
  const undeclared = shop.server.routes.filter((route) => route.statements === undefined).map(label);
  expect(undeclared, 'declare `statements` in defineRoute; this file measures it (STATEMENTS=print)').toEqual([]);
});

test('no call exceeds the statement budget of its route, for one row or many', async () => {
  for (const key of ['sms.resend_seconds', 'sms.per_phone_hour', 'sms.per_phone_day', 'sms.per_address_hour'])
    await shop.server.runtime.settings.set(key, key === 'sms.resend_seconds' ? 0 : 1_000);
  await shop.server.runtime.settings.set('inbox.sends_per_minute', 10_000);
  // Rows for the lists.
  for (const order of ['unpaid', 'paid', 'shipped'] as const)
    await requests.make('/api/v1/orders', 17, { order, large: true });
  await requests.make('/api/v1/cart', 50);
  for (const id of await requests.make('/api/v1/products', 60))
    await shop.call('POST', `/api/v1/products/${id}/favorite`, { token: requests.owner.token });
  const { routes } = shop.server;
  const listed = new Set(routes.filter((route) => route.method === 'GET').map((route) => route.path));
  for (const { method, path } of routes)
    if (method === 'POST' && listed.has(path)) await requests.make(path, 15).catch(() => null);

  const unmeasured: string[] = [];
  for (const route of routes)
    await measureAll(route).catch((error: Error) => unmeasured.push(`${label(route)} ${error.message}`));
  expect(unmeasured).toEqual([]);

  const rows = [...measured].map(([route, { most, withKey, successes, refusals, texts }]) => {
    const { statements: declared = 0 } = route;
    const refusedNote = successes > 0 ? '' : ` (only refused: ${[...refusals].join(', ')})`;
    return {
      line: `${label(route)}: ${most} of ${declared}${withKey > 0 ? `, with a key ${withKey}` : ''}${refusedNote}`,
      over: most > declared || withKey > declared + statementsForKey(route),
      texts,
    };
  });
  if (process.env.STATEMENTS) console.info(rows.map((row) => row.line).join('\n'));
  const over = rows.filter((row) => row.over);
  expect(over.map(({ line, texts }) => [line, ...texts.map((text) => text.slice(0, 90))].join('\n    '))).toEqual([]);
  // A refusal sends fewer statements. If most routes only refuse, the requests of this test are wrong.
  expect(rows.filter((row) => row.line.includes('only refused')).length).toBeLessThan(rows.length / 10);
}, 600_000);
