import { randomUUID } from 'node:crypto';
import { modules } from '@tradepost/app';
import type { Route } from '@tradepost/http';
import { label } from '@tradepost/testing/routes/inputs';
import { openRouteRequests, type RouteRequests } from '@tradepost/testing/routes/route-requests';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

let shop: Shop;
let requests: RouteRequests;
beforeAll(async () => {
  shop = await openShop();
  requests = await openRouteRequests(shop);
});
afterAll(() => shop?.close());

type Outcome = 'logged' | 'not logged' | 'refused';

/** The other state, for objects that have the example's state already. */
const otherState = (body: unknown) =>
  body instanceof Object && 'status' in body ? { ...body, status: body.status === 0 ? 1 : 0 } : body;

/** Sends one request. A call that succeeds and changes nothing is not logged. */
async function send(route: Route, path: string, body: unknown): Promise<Outcome> {
  const { sql } = shop.database;
  const id = randomUUID();
  const headers = { 'x-request-id': id };
  const { code } = await shop.call(route.method, path, { token: requests.staff, body, headers });
  const rows = await sql`
    select source, staff_id, action from change_log.changes where request_id = ${id} group by 1, 2, 3`;
  if (code !== 0) {
    expect(rows, `${label(route)}: a refused request`).toEqual([]);
    return 'refused';
  }
  if (rows.length === 0) return 'not logged';
  expect(rows).toEqual([{ source: 'api', staff_id: 1, action: label(route) }]);
  return 'logged';
}

const act = async (method: string, path: string, body?: unknown, token = requests.staff) => {
  const { code, message } = await shop.call(method, path, { token, body });
  expect(code, `${method} ${path}: ${message}`).toBe(0);
};

/** The steps of a return, from its application to its end. */
const returnSteps = ['audit', 'return', 'receive', 'refund', 'complete'] as const;
/** A return that has come up to `step`, which is the next one. */
async function returnBefore(step: (typeof returnSteps)[number]): Promise<string> {
  const [id] = await requests.make('/admin/api/after-sales', 1);
  const path = `/admin/api/after-sales/${id}`;
  const steps: Record<(typeof returnSteps)[number], () => Promise<void>> = {
    audit: () => act('POST', `${path}/audit`, { approve: true }),
    return: () =>
      act('POST', `/api/v1/after-sales/${id}/return-shipments`, { tracking_no: `SF${id}` }, requests.owner.token),
    receive: () => act('POST', `${path}/receive`),
    refund: () => act('POST', `${path}/refund`, {}),
    complete: () => act('POST', `${path}/complete`),
  };
  for (const name of returnSteps.slice(0, returnSteps.indexOf(step))) await steps[name]();
  return `${path}/${step}`;
}

/** Requests of routes that need more than objects of the right kind and their example. */
const prepared: Record<string, () => Promise<{ path: string; body: unknown }>> = {
  'POST /admin/api/after-sales/:id/receive': async () => ({ path: await returnBefore('receive'), body: undefined }),
  'POST /admin/api/after-sales/:id/refund': async () => ({ path: await returnBefore('refund'), body: {} }),
  'POST /admin/api/after-sales/:id/complete': async () => ({ path: await returnBefore('complete'), body: undefined }),
  'POST /admin/api/decor/:page_key/copies': async () => {
    const [page] = await requests.make('/admin/api/decor', 1);
    return {
      path: `/admin/api/decor/${page}/copies`,
      body: { from_variant_key: 'default', new_variant_key: 'copy', new_variant_name: 'Copy' },
    };
  },
  'POST /admin/api/webhooks/endpoints/:id/replay': async () => {
    const [id] = await requests.make('/admin/api/webhooks/endpoints', 1);
    await shop.database.sql`
      insert into webhooks.deliveries (endpoint_id, event_id, kind, subject, body, status, ready, attempts, due_at, last_error, occurred_at, ended_at)
      values (${id!}, 1, 'order.paid', 'order:1', '{}', 'failed', false, 9, now(), 'HTTP 500', now(), now())`;
    return { path: `/admin/api/webhooks/endpoints/${id}/replay`, body: { failed: true } };
  },
  ...Object.fromEntries(
    ['seckill', 'group-buy', 'bargain'].map((kind) => [
      `PUT /admin/api/${kind}/activities/:id`,
      async () => {
        const [id] = await requests.make(`/admin/api/${kind}/activities`, 1);
        return { path: `/admin/api/${kind}/activities/${id}`, body: { name: 'Another name' } };
      },
    ]),
  ),
  'PUT /admin/api/config/:plugin': async () => ({
    path: '/admin/api/config/sms',
    body: { sign_name: 'A name that the shop does not have' },
  }),
};

/** Sends requests for objects in several states until one is logged. */
async function outcomeOf(route: Route): Promise<Outcome> {
  const request = await prepared[label(route)]?.();
  if (request) return send(route, request.path, request.body);
  let outcome: Outcome = 'refused';
  for (const order of ['unpaid', 'paid', 'shipped'] as const)
    for (const change of [(body: unknown) => body, otherState]) {
      // Where the object of a route cannot be made, its requests would be refused too.
      const filled = await requests.fill(route, { order, large: false }).catch(() => null);
      if (!filled) continue;
      const { path, query, body } = filled;
      const next = await send(route, path + query, change(body));
      if (next === 'logged') return next;
      if (next === 'not logged') outcome = next;
    }
  return outcome;
}

const isStaffWrite = ({ method, auth }: Route) => method !== 'GET' && (auth === 'staff' || auth === 'any');

test('every write of an administrator is in the change log with its request', async () => {
  const routes = shop.server.routes.filter((route) => isStaffWrite(route) && !route.notLogged);
  const outcomes = new Map<string, Outcome>();
  for (const route of routes) outcomes.set(label(route), await outcomeOf(route));
  const having = (outcome: Outcome) => [...outcomes].filter(([, one]) => one === outcome).map(([name]) => name);
  expect(having('not logged'), 'use `write` or `actor` of the context, or state `notLogged` with a reason').toEqual([]);
  // A route whose requests are all refused proves nothing.
  expect(having('refused'), 'add a request to `prepared`').toEqual([]);
  expect(
    Object.keys(prepared).filter((name) => !outcomes.has(name)),
    'no such route',
  ).toEqual([]);
}, 120_000);

test('a route that is not logged is a write of administrators and changes no watched table', async () => {
  const exceptions = shop.server.routes.filter((route) => route.notLogged);
  expect(exceptions.filter((route) => !isStaffWrite(route)).map(label)).toEqual([]);
  for (const route of exceptions) {
    const token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
    const { path, query, body } = await requests.fill(route);
    const id = randomUUID();
    await shop.call(route.method, path + query, { token, body, headers: { 'x-request-id': id } });
    expect(await shop.database.sql`select from change_log.changes where request_id = ${id}`, label(route)).toEqual([]);
  }
});

test('every table is watched, or says why not', async () => {
  const tables = modules.flatMap((module) => module.tables ?? []);
  const declared = Object.assign({}, ...modules.map((module) => module.changeLog)) as NonNullable<
    (typeof modules)[number]['changeLog']
  >;
  expect(Object.keys(declared).sort(), 'declare each table in `changeLog` of its module').toEqual([...tables].sort());
  const { sql } = shop.database;
  const watched = await sql<{ name: string }[]>`
    select tgrelid::regclass::text as name from pg_trigger where tgname = 'change_log' order by 1`;
  const named = tables.filter((table) => !('unwatched' in declared[table]!)).sort();
  expect(
    watched.map(({ name }) => name).sort(),
    'a migration calls change_log.watch for each table with a name',
  ).toEqual(named);
});
