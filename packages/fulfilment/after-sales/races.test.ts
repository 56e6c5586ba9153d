import { auditViolations } from '@tradepost/testing/audit-violations';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CaseShop, openCaseShop } from '../testing/case-shop.ts';

/** Concurrent requests have one outcome, and money and stock move once. */
let shop: Shop;
let at: CaseShop;
beforeAll(async () => {
  shop = await openShop();
  at = await openCaseShop(shop);
});
afterAll(async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
  await shop?.close();
});

const many = <T>(count: number, run: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)));
const succeeded = (answers: readonly { code: number }[]) => answers.filter((answer) => answer.code === 0);
const messagesOf = (answers: readonly { code: number; message: string }[]) => [
  ...new Set(answers.filter((answer) => answer.code !== 0).map((answer) => answer.message)),
];

test('50 applications for one line at once open one case', async () => {
  const order = await at.buy({ quantities: [3] });
  const answers = await many(50, () => at.applyFor(order));
  expect(succeeded(answers)).toHaveLength(1);
  expect(messagesOf(answers)).toEqual(['Active after-sale case exists']);
  const rows = await shop.database.sql`select id from fulfilment.after_sale_cases where order_id = ${order.id}`;
  expect(rows).toHaveLength(1);
});

test('50 refunds of one case at once refund once', async () => {
  const order = await at.buy({ quantities: [3] });
  const id = await at.openCase(order, 'return', 3);
  await at.bring(order, id, 'return', 'refund_pending');
  const answers = await many(50, () => at.act(id, 'refund', { amount: 10 }));
  expect(succeeded(answers)).toHaveLength(1);
  expect(messagesOf(answers)).toEqual(['Cannot process refund in current status']);
  expect(await at.refundsOf(order.id)).toEqual([1000]);
});

test('refunds of several cases of one order at once are never above what was paid', async () => {
  const order = await at.buy({ quantities: Array(10).fill(1) });
  const ids = [];
  for (const line of order.lines.keys()) {
    const id = await at.openCase(order, 'return', 1, line);
    await at.bring(order, id, 'return', 'refund_pending');
    ids.push(id);
  }
  const answers = await Promise.all(ids.map((id) => at.act(id, 'refund', { amount: 30 })));
  expect(succeeded(answers)).toHaveLength(3);
  expect(messagesOf(answers)).toEqual(['Invalid refund amount']);
  expect(await at.refundsOf(order.id)).toEqual([3000, 3000, 3000]);
});

test('two administrators who decide one case differently make one decision', async () => {
  for (let round = 0; round < 10; round += 1) {
    const order = await at.buy({ quantities: [1] });
    const id = await at.openCase(order);
    const answers = await many(10, (index) => at.act(id, 'audit', { approve: index % 2 === 0 }));
    expect(succeeded(answers)).toHaveLength(1);
    const { status, audit_status, logs } = await at.detail(id);
    expect(logs).toHaveLength(2);
    expect(status).toBe(audit_status === 'approved' ? 'approved_wait_user_return' : 'rejected');
  }
});

test('goods that are received several times at once are restocked once', async () => {
  const order = await at.buy({ quantities: [2] });
  const id = await at.openCase(order, 'return', 2);
  await at.bring(order, id, 'return', 'user_returning');
  const stock = await at.stockOf(order.sku_ids[0]!);
  expect(succeeded(await many(20, () => at.act(id, 'receive')))).toHaveLength(1);
  expect(await at.stockOf(order.sku_ids[0]!)).toBe(stock + 2);
});

test('pieces whose cases are closed after their receipt come into stock once; a replacement that comes back counts anew', async () => {
  const order = await at.buy({ quantities: [2, 1] });
  const stock = await at.stockOf(order.sku_ids[0]!);
  const stockAfter = async (type: 'return' | 'exchange', status: string) => {
    const id = await at.openCase(order, type, 1);
    await at.bring(order, id, type, status);
    await at.act(id, 'close', { reason: 'By mistake' });
    return (await at.stockOf(order.sku_ids[0]!)) - stock;
  };
  const closed = [];
  for (const type of ['return', 'exchange', 'return'] as const)
    closed.push(await stockAfter(type, type === 'return' ? 'refund_pending' : 'reship_pending'));
  // Two pieces were bought, so two can be there again.
  expect(closed).toEqual([1, 2, 2]);
  // Nothing comes in, and the replacement leaves. Then this one comes back.
  expect(await stockAfter('exchange', 'completed')).toBe(1);
  expect(await stockAfter('return', 'refund_pending')).toBe(2);
  expect(await stockAfter('return', 'completed')).toBe(2);
});

test('closing, refunding, applying and completing cases of one order at once leaves a consistent order', async () => {
  for (let round = 0; round < 5; round += 1) {
    const order = await at.buy({ quantities: [1, 1, 1] });
    const [first, second] = [await at.openCase(order, 'return', 1, 0), await at.openCase(order, 'return', 1, 1)];
    await at.bring(order, first, 'return', 'refunded');
    await at.bring(order, second, 'return', 'refund_pending');
    const answers = await Promise.all([
      ...[1, 2, 3].map(() => at.act(first, 'complete')),
      at.act(second, 'close', { reason: 'Withdrawn' }),
      at.act(second, 'refund', {}),
      at.applyFor(order, { items: [{ order_item_id: order.lines[2], qty: 1 }] }),
    ]);
    expect(answers.slice(0, 3).map((answer) => answer.code)).toEqual([0, 0, 0]);
    expect(succeeded(answers.slice(3, 5))).toHaveLength(1);
    expect(answers[5]!.code).toBe(0);
    expect(await at.orderStatusOf(order.id)).toBe(5);
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  }
});

test('shipping an order and applying for its after-sale at once is one or the other first', async () => {
  for (let round = 0; round < 10; round += 1) {
    const order = await at.buy({ status: 'paid', quantities: [1] });
    const [shipped, applied] = await Promise.all([
      shop.call('PUT', `/admin/api/orders/${order.id}/ship`, {
        token: at.staff,
        body: { company: 'SF', tracking_no: 'S1' },
      }),
      at.applyFor(order),
    ]);
    expect(applied.code).toBe(0);
    const { order_status_snapshot } = await at.detail(applied.data.id);
    expect(order_status_snapshot).toBe(shipped.code === 0 ? 3 : 2);
    await at.act(applied.data.id, 'close', { reason: 'Withdrawn' });
    expect(await at.orderStatusOf(order.id)).toBe(order_status_snapshot);
  }
});

test('messages of one case at once stay within the limit of their side; the other side can answer', async () => {
  const order = await at.buy();
  const id = await at.openCase(order);
  await shop.database.sql`
    insert into fulfilment.after_sale_messages (case_id, sender, operator_type, operator_id, content)
    select ${id}, 'user', 'user', ${order.user_id}, 'message' from generate_series(1, 90)`;
  const path = `/api/v1/after-sales/${id}/messages`;
  const answers = await many(20, (index) =>
    shop.call('POST', path, { token: order.token, body: { content: `message ${index}` } }),
  );
  expect(succeeded(answers)).toHaveLength(10);
  expect(messagesOf(answers)).toEqual(['A case holds at most 100 messages of each side']);
  const { data } = await at.act(id, 'messages', { content: 'Please send a photo' });
  expect(data.messages).toHaveLength(101);
});
