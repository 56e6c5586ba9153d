import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '@tradepost/testing/client';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { logStatements, type StatementLog } from '@tradepost/testing/statements';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type CaseShop, openCaseShop } from '../testing/case-shop.ts';

/** The statement budgets of actions that succeed only in one state, and of pages with many cases. */
let shop: Shop;
let at: CaseShop;
let statements: StatementLog;
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  shop = await openShop();
  at = await openCaseShop(shop);
  statements = logStatements(shop);
});
afterAll(async () => {
  vi.useRealTimers();
  await shop?.close();
});

async function count(call: () => Promise<Answer>): Promise<number> {
  await sleep(5);
  const { value, texts } = await statements.during(call);
  expect(value.code).toBe(0);
  return texts.length;
}
const budgetOf = (path: string) => shop.server.routes.find((route) => route.path === path)!.statements!;

test('every action of both chains stays within the budget of its route, with many lines', async () => {
  const quantities = Array(20).fill(2);
  for (const type of ['return', 'exchange'] as const) {
    const order = await at.buy({ quantities });
    let id = 0;
    const apply = async () => {
      const items = order.lines.map((order_item_id) => ({ order_item_id, qty: 2 }));
      const answer = await at.applyFor(order, { case_type: type, items });
      id = answer.data.id;
      return answer;
    };
    const admin = '/admin/api/after-sales/:id';
    const calls: [string, () => Promise<Answer>][] = [
      ['/api/v1/orders/:id/after-sales', apply],
      [`${admin}/audit`, () => at.act(id, 'audit', { approve: true })],
      ['/api/v1/after-sales/:id/return-shipments', () => at.sendBack(order, id)],
      [`${admin}/receive`, () => at.act(id, 'receive')],
      type === 'return'
        ? [`${admin}/refund`, () => at.act(id, 'refund', {})]
        : ['/admin/api/orders/:id/ship', () => at.reship(order, id)],
      [`${admin}/complete`, () => at.act(id, 'complete')],
      [`${admin}/complete`, () => at.act(id, 'complete')],
    ];
    for (const [path, call] of calls) expect(await count(call), path).toBeLessThanOrEqual(budgetOf(path));
  }
  const unshipped = await at.buy({ status: 'paid', quantities: [1] });
  const id = await at.openCase(unshipped, 'return', 1);
  await at.bring(unshipped, id, 'return', 'refunded');
  const path = '/admin/api/after-sales/:id/complete';
  expect(await count(() => at.act(id, 'complete')), path).toBeLessThanOrEqual(budgetOf(path));
});

test('an action reads phones of buyers only while its notice is switched on', async () => {
  const order = await at.buy({ quantities: [1] });
  const approve = async (id: number) => {
    const { texts } = await statements.during(() => at.act(id, 'audit', { approve: true }));
    return texts.filter((text) => /phone|identity\.messages/.test(text)).length;
  };
  expect(await approve(await at.openCase(order))).toBe(0);
  const { settings } = shop.server.runtime;
  const webhook = { 'sms.provider': 'webhook', 'sms.webhook_url': 'http://127.0.0.1:9/', 'sms.webhook_secret': 'key' };
  await settings.setMany({ ...webhook, 'notices.enabled': ['after_sale_approved'] });
  const other = await at.buy({ quantities: [1] });
  expect(await approve(await at.openCase(other))).toBe(2);
  await settings.setMany({}, { unset: [...Object.keys(webhook), 'notices.enabled'] });
});

test('a page costs the same for one case and for many', async () => {
  const one = await at.buy({ quantities: [1] });
  await at.openCase(one);
  const many = await at.buy({ quantities: [1, 1, 1, 1, 1] });
  for (const line of many.lines.keys()) await at.openCase(many, 'return', 1, line);
  const pages = (order: { id: number; token: string }) => [
    () => shop.call('GET', `/admin/api/after-sales?order_id=${order.id}`, { token: at.staff }),
    () => shop.call('GET', `/api/v1/after-sales?order_id=${order.id}`, { token: order.token }),
    () => shop.call('GET', '/api/v1/orders', { token: order.token }),
    () => shop.call('GET', `/api/v1/orders/${order.id}`, { token: order.token }),
    () => shop.call('GET', `/admin/api/orders/${order.id}`, { token: at.staff }),
  ];
  const counts = async (order: typeof one) => {
    const found = [];
    for (const call of pages(order)) found.push(await count(call));
    return found;
  };
  expect(await counts(many)).toEqual(await counts(one));
});
