import { auditViolations } from '@tradepost/testing/audit-violations';
import { chinese, expectFields } from '@tradepost/testing/routes/contract';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CaseShop, openCaseShop } from '../testing/case-shop.ts';

/** Both chains from the application to the end, with stock, money and the status of the order. */
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

const orderOf = async (order: { id: number; token: string }) =>
  (await shop.call('GET', `/api/v1/orders/${order.id}`, { token: order.token })).data;

describe('a return', () => {
  test('of a part of a line returns its share to the cent, its stock, and the status of the order', async () => {
    // Three pieces were bought for 10.00.
    const order = await at.buy({ quantities: [3], price: 1000, cut: 20 });
    expect(order.total).toBe(10);
    const stock = await at.stockOf(order.sku_ids[0]!);
    const first = await at.openCase(order, 'return', 2);
    expect(await at.orderStatusOf(order.id)).toBe(5);
    expect((await orderOf(order)).after_sale_summary).toEqual({
      in_progress_count: 1,
      has_open_case: true,
      latest_case_id: first,
      latest_status: 'applied',
      latest_status_label: 'Applied',
      can_apply: false,
    });
    await at.bring(order, first, 'return', 'user_returning');
    expect(await at.stockOf(order.sku_ids[0]!)).toBe(stock);
    expect(await at.act(first, 'receive')).toMatchObject({ code: 0, data: null });
    expect(await at.stockOf(order.sku_ids[0]!)).toBe(stock + 2);
    expect(await at.act(first, 'refund', { amount: 0, reason: 'as agreed' })).toMatchObject({ code: 0 });
    expect(await at.refundsOf(order.id)).toEqual([667]);
    expect(await at.orderStatusOf(order.id)).toBe(5);
    expect(await at.act(first, 'complete')).toMatchObject({ code: 0 });
    expect(await at.act(first, 'complete')).toMatchObject({ code: 0 });
    expect(await at.orderStatusOf(order.id)).toBe(3);
    expect((await orderOf(order)).after_sale_summary).toMatchObject({ has_open_case: false, can_apply: true });

    expect((await at.applyFor(order, { items: [{ order_item_id: order.lines[0], qty: 2 }] })).message).toBe(
      'Quantity exceeds purchased amount',
    );
    const second = await at.openCase(order, 'return', 1);
    await at.bring(order, second, 'return', 'completed');
    expect(await at.refundsOf(order.id)).toEqual([667, 333]);
    expect((await orderOf(order)).after_sale_summary).toMatchObject({ latest_case_id: second, can_apply: false });
    expect(await at.orderStatusOf(order.id)).toBe(3);
  });

  test('can be refunded in part, and never above what is left of the payment', async () => {
    const order = await at.buy({ quantities: [1, 1], price: 1000 });
    const [first, second] = [await at.openCase(order, 'return', 1, 0), await at.openCase(order, 'return', 1, 1)];
    await at.bring(order, first, 'return', 'refund_pending');
    await at.bring(order, second, 'return', 'refund_pending');
    // Less than half a cent is not the amount of the case, and no amount is rounded.
    for (const amount of [0.004, 1e-7, 4.999, -0.001])
      expect(await at.act(first, 'refund', { amount }), String(amount)).toMatchObject({
        code: 500,
        message: 'Invalid refund amount',
      });
    expect((await at.act(first, 'refund', { amount: 20.01 })).message).toBe('Invalid refund amount');
    expect(await at.act(first, 'refund', { amount: 15.5, refund_no: `OWN${order.id}` })).toMatchObject({ code: 0 });
    expect((await at.act(second, 'refund', { amount: 4.51 })).message).toBe('Invalid refund amount');
    expect((await at.act(second, 'refund', { amount: 4, refund_no: `OWN${order.id}` })).code).toBe(500);
    expect(await at.statusOf(second)).toBe('refund_pending');
    expect(await at.act(second, 'refund', { amount: 4.5 })).toMatchObject({ code: 0 });
    expect(await at.refundsOf(order.id)).toEqual([1550, 450]);
    expect(await at.detail(first)).toMatchObject({
      refund_amount: 15.5,
      refund_no: `OWN${order.id}`,
      total_amount: 20,
    });
    await at.act(first, 'complete');
    expect(await at.orderStatusOf(order.id)).toBe(5);
    await at.act(second, 'complete');
    expect(await at.orderStatusOf(order.id)).toBe(3);
  });

  test('of everything before the shipment cancels the order; of a part it goes on to be shipped', async () => {
    const whole = await at.buy({ status: 'paid', quantities: [2] });
    await at.bring(whole, await at.openCase(whole, 'return', 2), 'return', 'completed');
    expect(await at.orderStatusOf(whole.id)).toBe(6);
    expect((await orderOf(whole)).after_sale_summary.can_apply).toBe(false);
    const part = await at.buy({ status: 'paid', quantities: [2] });
    await at.bring(part, await at.openCase(part, 'return', 1), 'return', 'completed');
    expect(await at.orderStatusOf(part.id)).toBe(2);
    await at.send('PUT', `/admin/api/orders/${part.id}/ship`, at.staff, { company: 'SF', tracking_no: 'P1' });
    expect(await at.orderStatusOf(part.id)).toBe(3);
  });

  test('does not go into stock when the shop has switched that off', async () => {
    await shop.server.runtime.settings.set('after_sale.restock_return', false);
    try {
      const order = await at.buy();
      const stock = await at.stockOf(order.sku_ids[0]!);
      await at.bring(order, await at.openCase(order), 'return', 'completed');
      expect(await at.stockOf(order.sku_ids[0]!)).toBe(stock);
    } finally {
      await shop.server.runtime.settings.unset('after_sale.restock_return');
    }
  });
});

describe('an exchange', () => {
  test('takes the replacement out of stock when it is shipped, and gives the order its status back', async () => {
    const order = await at.buy({ quantities: [3] });
    const stock = await at.stockOf(order.sku_ids[0]!);
    const id = await at.openCase(order, 'exchange', 2);
    await at.bring(order, id, 'exchange', 'reship_pending');
    expect(await at.stockOf(order.sku_ids[0]!)).toBe(stock + 2);
    const other = await at.buy();
    expect((await at.reship(other, id)).message).toBe('After-sale case does not match order');
    expect(await at.reship(order, id)).toMatchObject({ code: 0 });
    expect(await at.stockOf(order.sku_ids[0]!)).toBe(stock);
    expect((await at.reship(order, id)).message).toBe('After-sale status does not allow reship');
    expect(await at.orderStatusOf(order.id)).toBe(5);
    const shown = await orderOf(order);
    expect(shown.tracking_no).toBe(`NEW${id}`);
    expect(shown.latest_shipment).toMatchObject({ biz_type: 'reship', direction: 'outbound', after_sale_case_id: id });
    expect(await at.act(id, 'complete')).toMatchObject({ code: 0 });
    expect(await at.orderStatusOf(order.id)).toBe(3);
    expect(await at.refundsOf(order.id)).toEqual([]);
    // The replacements belong to the buyer, who may return them.
    await at.bring(order, await at.openCase(order, 'return', 3), 'return', 'completed');
  });

  test('waits for stock when the replacement is sold out', async () => {
    const order = await at.buy({ quantities: [1] });
    const id = await at.openCase(order, 'exchange', 1);
    await at.bring(order, id, 'exchange', 'reship_pending');
    const { sql } = shop.database;
    await sql`update catalog.product_skus set stock = 0 where id = ${order.sku_ids[0]!}`;
    expect((await at.reship(order, id)).message).toBe('Insufficient stock');
    expect(await at.statusOf(id)).toBe('reship_pending');
    expect((await orderOf(order)).shipments).toHaveLength(2);
    await sql`update catalog.product_skus set stock = 5 where id = ${order.sku_ids[0]!}`;
    expect(await at.reship(order, id)).toMatchObject({ code: 0 });
    await at.act(id, 'complete');
  });
});

describe('the answer of a case', () => {
  const caseFields =
    'id i, order_id i, user_id i, merchant_id i, order_status_snapshot i, case_no s, case_type s, case_type_label s, ' +
    'status s, status_label s, reason s, apply_content s, apply_images [], audit_status s, audit_status_label s, audit_remark s, refund_amount n, ' +
    'close_reason s, completed_at t|null, created_at t, updated_at t, items [], logs [], shipments []';
  const logFields =
    'id i, case_id i, from_status s, to_status s, action s, operator_type s, operator_type_label s, operator_id i, content s, ' +
    'created_at t, from_status_label s, to_status_label s, action_label s';
  const shipmentLabels =
    'direction_label s, biz_type_label s, logistics_status_label s, delivery_type_label s, created_by_type_label s';

  test('has the fields of the contract, its log oldest first, in both languages', async () => {
    const order = await at.buy();
    const id = await at.openCase(order, 'return', 2);
    await at.bring(order, id, 'return', 'completed');
    const en = await at.detail(id);
    expectFields(en, `${caseFields}, total_amount n, messages [], evidences []`);
    for (const log of en.logs) expectFields(log, logFields);
    for (const shipment of en.shipments) expectFields(shipment, shipmentLabels);
    expectFields(en.items[0], 'id i, case_id i, order_item_id i, qty i');
    expect(en.case_no).toMatch(/^AS\d{17}$/);
    expect(en.refund_no).toMatch(/^RF\d{17}$/);
    expect(en.logs.map((log: { action: string; to_status: string }) => [log.action, log.to_status])).toEqual([
      ['apply', 'applied'],
      ['audit', 'approved_wait_user_return'],
      ['return_ship', 'user_returning'],
      ['receive', 'refund_pending'],
      ['refund', 'refunded'],
      ['complete', 'completed'],
    ]);
    expect(en.logs.map((log: { action_label: string }) => log.action_label)).toEqual([
      'Applied',
      'Reviewed',
      'Return Shipped',
      'Received',
      'Refunded',
      'Completed',
    ]);
    expect(en.audit_status_label).toBe('Approved');
    const operators = ['Buyer', 'Merchant', 'Buyer', 'Merchant', 'Merchant', 'Merchant'];
    expect(en.logs.map((log: { operator_type_label: string }) => log.operator_type_label)).toEqual(operators);
    expect(en.logs[0].content).toBe('Applied for Return: Broken');
    expect(en.logs[4].content).toBe(`Refunded: 20.00, refund number ${en.refund_no}`);
    expect(en.shipments).toHaveLength(1);
    expect(en.shipments[0]).toMatchObject({
      direction: 'inbound',
      direction_label: 'Return',
      biz_type: 'return',
      tracking_no: 'BACK1',
      created_by_type: 'user',
    });
    const zh = await at.detail(id, 'zh-CN');
    for (const text of [
      zh.status_label,
      zh.case_type_label,
      zh.audit_status_label,
      ...zh.logs.flatMap((log: Record<string, string>) => [
        log.action_label,
        log.to_status_label,
        log.operator_type_label,
        log.content,
      ]),
    ])
      expect(text).toMatch(chinese);
    const own = await shop.call('GET', `/api/v1/after-sales/${id}`, { token: order.token });
    expectFields(own.data, caseFields);
    expect(own.data.evidences).toBeUndefined();
  });

  test('is in the list of its buyer, newest first, and in the list of orders', async () => {
    const order = await at.buy({ quantities: [1, 1, 1] });
    const ids = [];
    for (const line of [0, 1, 2]) ids.push(await at.openCase(order, 'return', 1, line));
    const { data: list } = await shop.call('GET', `/api/v1/after-sales?order_id=${order.id}`, { token: order.token });
    expect(list.list.map((row: { id: number }) => row.id)).toEqual(ids.toReversed());
    expect(list.total).toBe(3);
    expectFields(list.list[0], caseFields);
    const { data: orders } = await shop.call('GET', `/admin/api/orders?has_after_sale=true&keyword=${order.id}`, {
      token: at.staff,
    });
    const shown = orders.list.find((row: { id: number }) => row.id === order.id);
    expect(shown).toMatchObject({ has_after_sale: true, after_sale_summary: { in_progress_count: 3 } });
    for (const id of ids) await at.act(id, 'close', { reason: 'Withdrawn' });
    expect(await at.orderStatusOf(order.id)).toBe(3);
  });
});
