import { setTimeout as sleep } from 'node:timers/promises';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { type ExternalShop, ledgerDifferences, openExternalShop } from '@tradepost/testing/external-shop';
import { insertProduct } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Orders whose stock a partner holds: no order without stock at the partner, and no reservation without an order. */
let at: ExternalShop;
let buyer: { token: string; address_id: number; id: number };

const post = (path: string, body?: object) => at.shop.call('POST', path, { token: buyer.token, body });
const order = (...skus: number[]) =>
  post('/api/v1/orders', { address_id: buyer.address_id, items: skus.map((sku_id) => ({ sku_id })) });
const statusOf = async (id: number) =>
  (await at.shop.call('GET', `/api/v1/orders/${id}`, { token: buyer.token })).data.inventory_status;
const tasksOf = async (order_no: string) =>
  (
    await at.shop.database.sql`
      select action, status, mode, attempt_count, last_code from inventory.inventory_integration_tasks
      where biz_no = ${order_no} order by id`
  ).map((row) => ({ ...row }));
async function until(what: string, holds: () => Promise<boolean> | boolean, seconds = 20): Promise<void> {
  for (const end = performance.now() + seconds * 1000; ; ) {
    if (await holds()) return;
    if (performance.now() > end) throw new Error(`${what}: not within ${seconds} s`);
    await sleep(20);
  }
}
const becomes = (id: number, status: string) =>
  until(`order ${id} ${status}`, async () => (await statusOf(id)) === status);
const sku = async (stock = 100) => (await insertProduct(at.shop.database, { stocks: [stock] })).sku_ids[0]!;
const agree = async () => {
  expect(await ledgerDifferences(at.shop.database.sql, at.simulator)).toEqual([]);
  expect(await auditViolations(at.shop.database.sql)).toEqual([]);
};

describe('sync', () => {
  beforeAll(async () => {
    at = await openExternalShop('sync', { settings: { 'external_wms.timeout_ms': 300 } });
    buyer = await at.shop.shopper();
  });
  afterAll(() => at?.close());

  test('an order is reserved when it is placed, confirmed when it is paid, released when it is cancelled', async () => {
    const one = await sku();
    const placed = await order(one);
    expect([placed.code, placed.data.inventory_status]).toEqual([0, 'reserved']);
    expect(at.simulator.ledger().skus.find((row) => row.sku_id === one)).toMatchObject({ reserved: 1 });
    expect((await post(`/api/v1/orders/${placed.data.id}/pay`)).code).toBe(0);
    expect(await statusOf(placed.data.id)).toBe('confirmed');
    const second = await order(one);
    expect((await post(`/api/v1/orders/${second.data.id}/cancel`)).code).toBe(0);
    expect(await statusOf(second.data.id)).toBe('released');
    expect(await tasksOf(second.data.order_no)).toEqual([
      { action: 'reserve', status: 'success', mode: 'sync', attempt_count: 1, last_code: 0 },
      { action: 'release', status: 'success', mode: 'sync', attempt_count: 1, last_code: 0 },
    ]);
    await agree();
  });

  test("a refusal of the partner refuses the order with the partner's message; no row is written and the cart does not change", async () => {
    const one = await sku();
    await at.simulator.setStock(one, 0);
    await post('/api/v1/cart/add', { sku_id: one, qty: 2 });
    const refused = await post('/api/v1/orders', { address_id: buyer.address_id, sku_ids: [one] });
    expect(refused.code).toBe(20001);
    expect(refused.message).toContain(`SKU ${one}: 0 sellable, 2 asked for`);
    const { data: cart } = await at.shop.call('GET', '/api/v1/cart', { token: buyer.token });
    expect(cart.map((line: { sku_id: number; qty: number }) => [line.sku_id, line.qty])).toEqual([[one, 2]]);
    await post('/api/v1/cart/remove', { sku_id: one });
    await agree();
  });

  test('a partner that hangs after it has reserved: the order is refused, and the reservation is released', async () => {
    const one = await sku();
    at.simulator.change({ hangRate: 1, failAfter: 1, faultCalls: ['reserve'] });
    const refused = await order(one).finally(() => at.simulator.change({ hangRate: 0 }));
    expect([refused.code, refused.message]).toEqual([
      20001,
      'The warehouse is busy or does not answer: please try again',
    ]);
    expect(at.simulator.ledger().skus.find((row) => row.sku_id === one)).toMatchObject({ reserved: 1 });
    // The release is due later, so that the reserve cannot arrive after it. The test makes it due now.
    await at.shop.database.sql`
      update inventory.inventory_integration_tasks set next_retry_at = now() where action = 'release' and status = 'pending'`;
    await until('released', () => at.simulator.ledger().skus.find((row) => row.sku_id === one)!.reserved === 0);
    await agree();
  });

  test('a product that is disabled between pre-reservation and order: the order is refused, and the stock released', async () => {
    const { id, sku_ids } = await insertProduct(at.shop.database, { stocks: [5] });
    at.simulator.change({ delayMs: 150 });
    const placing = order(sku_ids[0]!).finally(() => at.simulator.change({ delayMs: 0 }));
    await until('called', () => at.simulator.counters().calls > 0);
    await at.shop.database.sql`update catalog.products set status = 0 where id = ${id}`;
    const refused = await placing;
    expect(refused.code).toBe(20001);
    await until('released', () =>
      at.simulator.ledger().skus.every((row) => row.sku_id !== sku_ids[0] || row.reserved === 0),
    );
    await agree();
  });

  test('a confirm that cannot be delivered at once is delivered later: the order is paid, and its stock is pending', async () => {
    const one = await sku();
    const placed = await order(one);
    at.simulator.change({ failRate: 1, failAfter: 0, failCodes: [1001], faultCalls: ['confirm'] });
    expect((await post(`/api/v1/orders/${placed.data.id}/pay`)).code).toBe(0);
    const { data } = await at.shop.call('GET', `/api/v1/orders/${placed.data.id}`, { token: buyer.token });
    expect([data.status, data.inventory_status]).toEqual([2, 'pending']);
    at.simulator.change({ failRate: 0 });
    await becomes(placed.data.id, 'confirmed');
    await agree();
  });

  test('a product shows the sellable stock of the partner, or the stock column when the partner does not answer', async () => {
    const { id, sku_ids } = await insertProduct(at.shop.database, { stocks: [7] });
    await at.simulator.setStock(sku_ids[0]!, 42);
    const shown = async () => (await at.shop.call('GET', `/api/v1/products/${id}`)).data.skus[0].stock;
    expect(await shown()).toBe(42);
    const other = await insertProduct(at.shop.database, { stocks: [7] });
    at.simulator.change({ closeRate: 1, failAfter: 0, faultCalls: ['sellable'] });
    const { data } = await at.shop.call('GET', `/api/v1/products/${other.id}`);
    at.simulator.change({ closeRate: 0 });
    expect(data.skus[0].stock).toBe(7);
  });
});

test('tasks for which no client waits are delivered within seconds, also while new ones are written', async () => {
  at = await openExternalShop('sync');
  try {
    buyer = await at.shop.shopper();
    const staff = await at.shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
    const one = await sku();
    const placed: number[] = [];
    for (let n = 0; n < 24; n += 1) placed.push((await order(one)).data.id as number);
    let isReleased = false;
    for (const id of placed) {
      const body = { ids: [id], reason: '' };
      await at.shop.call('POST', '/admin/api/orders/batch/close', { token: staff, body });
      await sleep(250);
      isReleased ||= (await statusOf(placed[0]!)) === 'released';
    }
    expect(isReleased, 'the first order is released while others are still being closed').toBe(true);
    await becomes(placed.at(-1)!, 'released');
    await agree();
  } finally {
    await at.close();
  }
});

test('a partner that hangs does not block the other jobs of the worker', async () => {
  at = await openExternalShop('async', {
    settings: { 'external_wms.timeout_ms': 3_000 },
    behaviour: { hangRate: 1, failAfter: 0 },
  });
  try {
    buyer = await at.shop.shopper();
    const one = await sku();
    const placed: number[] = [];
    for (let n = 0; n < 40; n += 1) placed.push((await order(one)).data.id as number);
    await until('called', () => at.simulator.counters().calls > 0);
    await at.shop.database
      .sql`update orders.orders set expires_at = now() - interval '1 minute' where id = ${placed[0]!}`;
    await at.shop.database.sql`select graphile_worker.add_job('orders.expire', '{}'::json)`;
    await until(
      'cancelled while the partner hangs',
      async () => {
        const [row] = await at.shop.database.sql`select status from orders.orders where id = ${placed[0]!}`;
        return row!.status === 6;
      },
      2.5,
    );
  } finally {
    at.simulator.change({ hangRate: 0 });
    await at.close();
  }
});

describe('async', () => {
  beforeAll(async () => {
    at = await openExternalShop('async', { settings: { 'external_wms.timeout_ms': 500 } });
    buyer = await at.shop.shopper();
  });
  afterAll(() => at?.close());

  test('an order is pending first, and reserved, confirmed or released when the partner has answered', async () => {
    const one = await sku();
    const paid = await order(one);
    expect([paid.code, paid.data.inventory_status]).toEqual([0, 'pending']);
    await becomes(paid.data.id, 'reserved');
    await post(`/api/v1/orders/${paid.data.id}/pay`);
    await becomes(paid.data.id, 'confirmed');
    const cancelled = await order(one);
    await becomes(cancelled.data.id, 'reserved');
    await post(`/api/v1/orders/${cancelled.data.id}/cancel`);
    await becomes(cancelled.data.id, 'released');
    await agree();
  });

  test('a release is sent after a reserve that is still pending, and no stock stays reserved', async () => {
    const one = await sku();
    at.simulator.change({ failRate: 1, failAfter: 0, failCodes: [1001], faultCalls: ['reserve'] });
    const placed = await order(one);
    await post(`/api/v1/orders/${placed.data.id}/cancel`);
    expect(await statusOf(placed.data.id)).toBe('pending');
    expect(at.simulator.seen(`order:${placed.data.order_no}:release`)).toBe(0);
    at.simulator.change({ failRate: 0 });
    await becomes(placed.data.id, 'released');
    expect((await tasksOf(placed.data.order_no)).map((task) => [task.action, task.status])).toEqual([
      ['reserve', 'success'],
      ['release', 'success'],
    ]);
    await agree();
  });

  test('a final code fails the order at once, without a further attempt; a cancelled order is then released', async () => {
    const one = await sku();
    await at.simulator.setStock(one, 0);
    const placed = await order(one);
    await becomes(placed.data.id, 'failed');
    expect(await tasksOf(placed.data.order_no)).toEqual([
      { action: 'reserve', status: 'failed', mode: 'async', attempt_count: 1, last_code: 4003 },
    ]);
    await post(`/api/v1/orders/${placed.data.id}/cancel`);
    await becomes(placed.data.id, 'released');
    await agree();
  });

  test('with callbacks, code 0 means accepted and the callback changes the order', async () => {
    const one = await sku();
    await at.shop.server.runtime.settings.set('external_wms.callback_enabled', true);
    at.simulator.change({ callbacks: 'async', callbackDelayMs: 200, carryOut: 'later' });
    const placed = await order(one);
    await until('accepted', async () => (await tasksOf(placed.data.order_no))[0]!.last_code === 0);
    expect(await statusOf(placed.data.id)).toBe('pending');
    await becomes(placed.data.id, 'reserved');
    at.simulator.change({ earlyRate: 1, callbackDelayMs: 0 });
    await post(`/api/v1/orders/${placed.data.id}/pay`);
    await becomes(placed.data.id, 'confirmed');
    at.simulator.change({ callbacks: 'none', earlyRate: 0, carryOut: 'at_once' });
    await at.shop.server.runtime.settings.set('external_wms.callback_enabled', false);
    await agree();
  });

  test('the partner is notified of new SKUs and of stock that is set by hand, and of no other change', async () => {
    const staff = await at.shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
    const product = { title: 'Jug', price: 12, origin_price: 0, stock: 33, category_id: '', cover: '', status: 1 };
    const made = await at.shop.call('POST', '/admin/api/products', { token: staff, body: { product } });
    const [row] = await at.shop.database.sql`select id from catalog.product_skus where product_id = ${made.data.id}`;
    const onHand = () => at.simulator.ledger().skus.find((one) => one.sku_id === row!.id)?.on_hand;
    await until('announced', () => onHand() === 33);
    const put = (body: object) => at.shop.call('PUT', `/admin/api/products/${made.data.id}`, { token: staff, body });
    await put({ product: { ...product, title: 'Large jug' } });
    await put({ product: { stock: 50 } });
    await until('announced again', () => onHand() === 50);
    const [{ n }] = (await at.shop.database.sql`
      select count(*)::int as n from inventory.inventory_integration_tasks where action = 'sync_sku' and payload->>'sku_id' = ${String(row!.id)}`) as unknown as [
      { n: number },
    ];
    expect(n).toBe(2);
  });

  test('completed documents are deducted and restored at the partner', async () => {
    const staff = await at.shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
    const admin = (path: string, body?: object) => at.shop.call('POST', path, { token: staff, body });
    const one = await sku();
    const { data: warehouse } = await admin('/admin/api/wms/warehouses', { code: 'W1', name: 'One' });
    const change = () => at.simulator.ledger().skus.find((row) => row.sku_id === one)?.net_change ?? 0;
    for (const [doc_type, qty, net] of [
      ['inbound', 5, 5],
      ['outbound', 2, 3],
    ] as const) {
      const body = { warehouse_id: warehouse.id, doc_type, remark: '', items: [{ sku_id: one, qty, remark: '' }] };
      const { data: doc } = await admin('/admin/api/wms/docs', body);
      expect((await admin(`/admin/api/wms/docs/${doc.id}/complete`)).code).toBe(0);
      await until(`${doc_type} delivered`, () => change() === net);
    }
    await until('no task open', async () => {
      const [row] = await at.shop.database.sql`
        select count(*)::int as n from inventory.inventory_integration_tasks where status in ('pending', 'processing')`;
      return row!.n === 0;
    });
  });
});
