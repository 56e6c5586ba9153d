import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Route } from '@tradepost/http';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { label } from './harness/inputs.ts';
import { openShop, type Shop } from './harness/shop.ts';
import { logStatements, type StatementLog } from './harness/statements.ts';
import { openWorld, type Wish, type World } from './harness/world.ts';

/**
 * Every endpoint has a bound on what it asks of the database, whatever the page size, the order's lines or the number of
 * ids: a query in a loop shows here before a shop with data shows it. A new route is measured by being there.
 */
let shop: Shop;
let world: World;
let statements: StatementLog;
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  shop = await openShop({ settings: { 'pay.sandbox.secret': 's'.repeat(32) } });
  world = await openWorld(shop);
  statements = logStatements(shop);
});
afterAll(async () => {
  vi.useRealTimers();
  await shop?.close();
});

type Measured = { most: number; texts: string[]; keyed: number; successes: number; refusals: Set<string> };
const measured = new Map<Route, Measured>();

async function measure(route: Route, wish: Wish, keyed: boolean): Promise<Set<string>> {
  const { path, query, body, kinds } = await world.fill(route, wish);
  const token = await world.tokenFor(route);
  // What the calls before have told other instances about has arrived.
  await sleep(5);
  const { value, texts } = await statements.during(() =>
    shop.call(route.method, path + query, {
      ...(token === undefined ? {} : { token }),
      body,
      headers: keyed ? { 'idempotency-key': randomUUID() } : {},
    }),
  );
  const entry = measured.get(route) ?? { most: 0, texts: [], keyed: 0, successes: 0, refusals: new Set() };
  measured.set(route, entry);
  if (value.code === 0) entry.successes += 1;
  else entry.refusals.add(`${value.code} ${value.message}`);
  if (keyed) entry.keyed = Math.max(entry.keyed, texts.length);
  else if (texts.length > entry.most) Object.assign(entry, { most: texts.length, texts });
  return kinds;
}

test('every route says how many statements a call sends at most', () => {
  const silent = shop.server.routes.filter((route) => route.statements === undefined).map(label);
  expect(silent, 'declare `statements` in defineRoute; this file measures it (STATEMENTS=print)').toEqual([]);
});

test('no call sends more, be it about one row or about many', async () => {
  const large: Wish = { order: 'unpaid', large: true };
  // Something to list.
  for (const wish of [large, { ...large, order: 'paid' }, { ...large, order: 'shipped' }] as const)
    await world.make('/api/v1/orders', 17, wish);
  await world.make('/api/v1/cart', 50);
  for (const id of await world.make('/api/v1/products', 60, { order: 'unpaid', large: false }))
    await shop.call('POST', `/api/v1/products/${id}/favorite`, { token: world.owner.token });
  const collections = shop.server.routes.filter((route) => route.method === 'POST' && !route.path.includes(':'));
  for (const { path } of collections.filter((r) => shop.server.routes.some((g) => g.method === 'GET' && g.path === r.path)))
    await world.make(path, 15).catch(() => null);

  for (const route of shop.server.routes)
    for (const isLarge of [false, true])
      for (const order of ['unpaid', 'paid', 'shipped'] as const) {
        const kinds = await measure(route, { order, large: isLarge }, false);
        if (route.method !== 'GET' && route.auth !== 'public' && order === 'unpaid')
          await measure(route, { order, large: isLarge }, true);
        if (!kinds.has('orders')) break;
      }

  const rows = [...measured].map(([route, { most, keyed, successes, refusals, texts }]) => ({
    route,
    line: `${label(route)}: ${most} of ${route.statements ?? '?'}${keyed ? `, with a key ${keyed}` : ''}${successes ? '' : ` (only refused: ${[...refusals].join(', ')})`}`,
    over: most > (route.statements ?? 0),
    texts,
  }));
  if (process.env.STATEMENTS) console.info(rows.map((row) => row.line).join('\n'));
  const over = rows.filter((row) => row.route.statements !== undefined && row.over);
  expect(over.map(({ line, texts }) => [line, ...texts.map((text) => text.slice(0, 90))].join('\n    '))).toEqual([]);
}, 60_000);
