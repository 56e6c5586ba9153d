import { dashboardCards, staticEntriesOf } from '@tradepost/module';
import { fileReferences } from '@tradepost/storage';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { chinese } from '@tradepost/testing/routes/contract';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fulfilmentModule } from '../index.ts';
import { type CaseShop, openCaseShop } from '../testing/case-shop.ts';

/** What an application must have, who sees a case, and what is kept with it. */
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

describe('an application is refused', () => {
  test.each<[string, object, string]>([
    ['without a reason', { reason: ' ' }, 'Please provide a reason'],
    ['with an invisible reason', { reason: '\u200b\u3164 \u202e' }, 'Please provide a reason'],
    ['without lines', { items: [] }, 'Please select products'],
    ['with no pieces', { items: [{ order_item_id: 1, qty: 0 }] }, 'Please select valid products'],
    ['for a line of no order', { items: [{ order_item_id: 2 ** 40, qty: 1 }] }, 'Order item not found'],
  ])('%s', async (_case, body, message) => {
    const order = await at.buy();
    expect(await at.applyFor(order, body)).toMatchObject({ code: 500, message });
    expect((await at.applyFor(order, body, 'zh-CN')).message).toMatch(chinese);
    expect(await at.orderStatusOf(order.id)).toBe(3);
  });

  test('for more pieces than were bought, in one entry or in two', async () => {
    const order = await at.buy({ quantities: [2] });
    const [order_item_id] = order.lines;
    const message = 'Quantity exceeds purchased amount';
    expect(await at.applyFor(order, { items: [{ order_item_id, qty: 3 }] })).toMatchObject({ code: 500, message });
    const twice = [
      { order_item_id, qty: 1 },
      { order_item_id, qty: 2 },
    ];
    expect(await at.applyFor(order, { items: twice })).toMatchObject({ code: 500, message });
  });

  test('for a line of another order, or with an open case', async () => {
    const [order, other] = [await at.buy(), await at.buy()];
    const items = [{ order_item_id: other.lines[0], qty: 1 }];
    expect((await at.applyFor(order, { items })).message).toBe('Order item not found');
    await at.openCase(order);
    expect(await at.applyFor(order, { case_type: 'exchange' })).toMatchObject({
      code: 500,
      message: 'Active after-sale case exists',
    });
  });

  test('for an unpaid, a cancelled or a missing order, and for the order of another shopper', async () => {
    const unpaid = await at.buy({ status: 'unpaid' });
    expect((await at.applyFor(unpaid)).message).toBe('Order not paid, after-sale not available');
    await at.send('POST', `/api/v1/orders/${unpaid.id}/cancel`, unpaid.token);
    expect((await at.applyFor(unpaid)).message).toBe('Order cancelled, after-sale not available');
    const order = await at.buy();
    expect(await at.applyFor({ ...order, token: unpaid.token })).toMatchObject({
      code: 404,
      message: 'Order not found',
    });
    expect(await at.applyFor({ ...order, id: 2 ** 40 })).toMatchObject({ code: 404, message: 'Order not found' });
  });

  test('with more than nine different images', async () => {
    const order = await at.buy();
    const image = (n: number) => `/uploads/2026/11/${n}.png`;
    const ten = Array.from({ length: 10 }, (_, n) => image(n));
    expect(await at.applyFor(order, { apply_images: ten })).toMatchObject({
      code: 400,
      message: 'apply_images: at most 9 images',
    });
    const { data } = await at.applyFor(order, { apply_images: [' /a.png ', '/a.png', '', ...ten.slice(0, 8)] });
    const { apply_images } = await at.detail(data.id);
    expect(apply_images).toHaveLength(9);
    expect(apply_images[0]).toBe(`${shop.url}/a.png`);
  });

  test('with an image that is neither a path nor an http address; the two forms of one upload count once', async () => {
    const order = await at.buy();
    const refusal = 'apply_images: an image must be a path of this shop or an http address';
    for (const image of ['javascript:alert(1)', 'java\tscript:alert(1)', 'data:text/html,x'])
      expect(await at.applyFor(order, { apply_images: [image] }), image).toMatchObject({ code: 400, message: refusal });
    const id = await at.openCase(order);
    for (const action of ['messages', 'evidences'])
      expect(await at.act(id, action, { content: 'x', images: ['data:image/png;base64,AA=='] })).toMatchObject({
        code: 400,
        message: 'images: an image must be a path of this shop or an http address',
      });
    const upload = '/uploads/2026/11/a.png';
    const { data } = await at.act(id, 'evidences', { images: [upload, `${shop.url}${upload}`] });
    expect(data.evidences[0].images).toEqual([`${shop.url}${upload}`]);
  });
});

test('an unknown case type counts as a return, and its share of the price is suggested for the refund', async () => {
  const order = await at.buy({ quantities: [3], price: 1000 });
  const { data } = await at.applyFor(order, {
    case_type: 'refund_only',
    items: [{ order_item_id: order.lines[0], qty: 2 }],
  });
  expect(await at.detail(data.id)).toMatchObject({ case_type: 'return', refund_amount: 20, order_status_snapshot: 3 });
});

test('a second case of an order in after-sale keeps the status of the order before both', async () => {
  const order = await at.buy({ quantities: [1, 1] });
  const [first, second] = [await at.openCase(order, 'return', 1, 0), await at.openCase(order, 'exchange', 1, 1)];
  await at.act(first, 'audit', { approve: false, audit_remark: 'no' });
  expect(await at.orderStatusOf(order.id)).toBe(5);
  await at.act(second, 'audit', { approve: false });
  expect(await at.orderStatusOf(order.id)).toBe(3);
});

describe('a case', () => {
  test('is shown to its buyer only: 403 for another shopper, 404 when it does not exist', async () => {
    const [order, other] = [await at.buy(), await at.buy()];
    const id = await at.openCase(order);
    const calls = [
      ['GET', `/api/v1/after-sales/${id}`, undefined],
      ['POST', `/api/v1/after-sales/${id}/return-shipments`, { tracking_no: 'X' }],
      ['POST', `/api/v1/after-sales/${id}/messages`, { content: 'Hello' }],
    ] as const;
    for (const [method, path, body] of calls) {
      expect(await shop.call(method, path, { token: other.token, body })).toMatchObject({
        code: 403,
        message: 'No permission',
      });
      const missing = path.replace(String(id), String(2 ** 40));
      expect(await shop.call(method, missing, { token: other.token, body })).toMatchObject({ code: 404 });
    }
    const list = await shop.call('GET', '/api/v1/after-sales', { token: other.token });
    expect(list.data).toMatchObject({ list: [], total: 0 });
  });

  test('needs a tracking number and no carrier for the return', async () => {
    const order = await at.buy();
    const id = await at.openCase(order);
    await at.act(id, 'audit', { approve: true });
    expect((await at.sendBack(order, id, { company: 'sf', tracking_no: ' ' })).message).toBe(
      'Tracking number is required',
    );
    for (const [field, value] of [
      ['company', 'SF\u2066'],
      ['tracking_no', 'T\u200d1'],
    ] as const)
      expect(await at.sendBack(order, id, { company: 'SF', tracking_no: 'T1', [field]: value })).toMatchObject({
        code: 400,
        message: expect.stringContaining(`${field}: must not contain`),
      });
    expect(await at.sendBack(order, id, { company: '', tracking_no: 'T 1' })).toMatchObject({ code: 0, data: null });
  });

  test('has messages of both sides, and evidences that only the merchant sees', async () => {
    const order = await at.buy();
    const id = await at.openCase(order);
    const image = `${shop.url}/uploads/2026/11/a.png`;
    const said = await shop.call('POST', `/api/v1/after-sales/${id}/messages`, {
      token: order.token,
      body: { content: 'It is broken', images: [image] },
    });
    expect(said.data).toMatchObject({ id, messages: [{ from: 'user', content: 'It is broken', images: [image] }] });
    const answered = await at.act(id, 'messages', { from: 'merchant', content: 'Please send it back' });
    expect(answered.data.messages.map((message: { from: string }) => message.from)).toEqual(['user', 'merchant']);
    expect((await at.act(id, 'messages', { content: ' ' })).code).toBe(400);
    expect((await at.act(id, 'messages', { content: '\u2060' })).message).toBe('content: must not be empty');
    expect((await at.act(id, 'evidences', { images: [''] })).message).toBe('images: at least one image');
    const { data } = await at.act(id, 'evidences', { images: [image], remark: 'Parcel' });
    expect(data).toMatchObject({ id, evidences: [{ images: [image], remark: 'Parcel' }] });
    const [row] = await shop.database.sql`select images from fulfilment.after_sale_evidences where case_id = ${id}`;
    expect(row!.images).toEqual(['/uploads/2026/11/a.png']);
    const full = await Promise.all(Array.from({ length: 25 }, () => at.act(id, 'evidences', { images: [image] })));
    expect(full.filter((answer) => answer.code === 0)).toHaveLength(19);
    expect((await at.detail(id)).evidences).toHaveLength(20);
  });
});

test('files that a case, a message or an evidence shows are in use', async () => {
  const order = await at.buy();
  const stored = (n: number) => `/uploads/2026/11/179546839712345678${n}_0123456789ab.png`;
  const [applied, said, proved, unused] = [stored(1), stored(2), stored(3), stored(4)];
  const { data } = await at.applyFor(order, { apply_images: [`${shop.url}${applied}`] });
  await at.act(data.id, 'messages', { content: 'Look', images: [`${shop.url}${said}`] });
  await at.act(data.id, 'evidences', { images: [proved] });
  const [entry] = staticEntriesOf([fulfilmentModule])(fileReferences);
  const used = await entry!.referenced(shop.database.sql, [applied, said, proved, unused]);
  expect([...used].sort()).toEqual([applied, proved, said].sort());
});

describe('the list of the back office', () => {
  const idsOf = async (query: string) => {
    const { data } = await shop.call('GET', `/admin/api/after-sales?size=1000&${query}`, { token: at.staff });
    return data.list.map((row: { id: number }) => row.id) as number[];
  };
  test('filters by status, type and order, with the names of the merchant app too', async () => {
    const order = await at.buy({ quantities: [1, 1] });
    const returned = await at.openCase(order, 'return', 1, 0);
    const exchanged = await at.openCase(order, 'exchange', 1, 1);
    const of = `order_id=${order.id}`;
    expect(await idsOf(of)).toEqual([exchanged, returned]);
    for (const type of ['case_type=return', 'type=return_refund', 'type=refund_only', 'type=return&case_type='])
      expect(await idsOf(`${of}&${type}`)).toEqual([returned]);
    for (const type of ['case_type=exchange', 'type=exchange'])
      expect(await idsOf(`${of}&${type}`)).toEqual([exchanged]);
    await at.act(returned, 'audit', { approve: true });
    expect(await idsOf(`${of}&status=approved_wait_user_return`)).toEqual([returned]);
    expect(await idsOf(`${of}&status=warehouse_received`)).toEqual([]);
    expect(await idsOf(`status=&type=&order_id=`)).toEqual(expect.arrayContaining([returned, exchanged]));
  });

  test('is in the menu, and open cases are counted on the dashboard', async () => {
    const menus = await shop.call('GET', '/admin/api/menus', { token: at.staff });
    expect(JSON.stringify(menus.data)).toContain('/order/after-sale/list');
    const card = staticEntriesOf([fulfilmentModule])(dashboardCards).find(
      (entry) => entry.field === 'pending_refunds',
    )!;
    const { sql } = shop.database;
    const reader = { id: 1, perms: ['*'] };
    const before = await card.count(sql, reader);
    const order = await at.buy();
    const id = await at.openCase(order);
    expect(await card.count(sql, reader)).toBe(before + 1);
    await at.act(id, 'audit', { approve: false });
    expect(await card.count(sql, reader)).toBe(before);
  });
});

test('without the permission for refunds a refund is refused', async () => {
  const order = await at.buy();
  const id = await at.openCase(order);
  await at.bring(order, id, 'return', 'refund_pending');
  const token = await shop.server.tokens.issue({ role: 'admin', id: at.staffId, perms: ['order:ship', 'order:view'] });
  const answer = await shop.call('POST', `/admin/api/after-sales/${id}/refund`, { token, body: {} });
  expect(answer).toMatchObject({ code: 403, message: 'No permission: order:refund' });
});
