import { modules } from '@tradepost/app';
import { type DashboardCard, dashboardCards, staticEntriesOf } from '@tradepost/module';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { logStatements } from '@tradepost/testing/statements';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

let shop: Shop;
const cards = staticEntriesOf(modules)(dashboardCards);
const reader = { id: 1, perms: ['*'] };
const count = (field: string) => cards.find((card) => card.field === field)!.count(shop.server.runtime.sql, reader);

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  shop = await openShop();
});
afterAll(async () => {
  vi.useRealTimers();
  await shop?.close();
});

test('two cards do not have the same field', () => {
  expect(cards.length).toBeGreaterThan(0);
  expect(new Set(cards.map(({ field }) => field)).size).toBe(cards.length);
});

test('each card needs a permission that a route needs too, so that a role can have it', () => {
  const permissions = new Set(shop.server.routes.map(({ permission }) => permission));
  for (const { field, permission } of cards) expect(permissions.has(permission), field).toBe(true);
});

test.each(cards.map((card): [string, DashboardCard] => [card.field, card]))(
  '%s is 0 in a new shop and costs one statement',
  async (_field, card) => {
    const { value, texts } = await logStatements(shop).during(() => card.count(shop.server.runtime.sql, reader));
    expect(value).toBe(0);
    expect(texts).toHaveLength(1);
  },
);

test('pending_ship counts the paid orders that are not shipped', async () => {
  const { token, address_id } = await shop.shopper();
  const staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['order:ship'] });
  const { sku_ids } = await insertProduct(shop.database, { stocks: [10] });
  const ids: number[] = [];
  for (let n = 0; n < 4; n++) {
    const body = { address_id, items: [{ sku_id: sku_ids[0] }] };
    ids.push((await shop.call('POST', '/api/v1/orders', { token, body })).data.id);
  }
  expect(await count('pending_ship')).toBe(0);
  for (const id of ids.slice(1)) await shop.call('POST', `/api/v1/orders/${id}/pay`, { token });
  expect(await count('pending_ship')).toBe(3);
  const body = { company: 'SF', tracking_no: 'SF1' };
  await shop.call('PUT', `/admin/api/orders/${ids[1]}/ship`, { token: staff, body });
  expect(await count('pending_ship')).toBe(2);
});
