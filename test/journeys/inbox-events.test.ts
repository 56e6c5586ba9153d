import { modules } from '@tradepost/app';
import { inboxTemplates, staticEntriesOf } from '@tradepost/module';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { dispatchEvents } from '@tradepost/testing/dispatch-events';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CaseShop, openCaseShop } from '../../packages/fulfilment/testing/case-shop.ts';

let shop: Shop;
let at: CaseShop;
beforeAll(async () => {
  shop = await openShop();
  at = await openCaseShop(shop);
});
afterAll(() => shop?.close());

type Buyer = { token: string };
const inbox = async ({ token }: Buyer, lang = 'en') =>
  (await shop.call('GET', '/api/v1/messages', { token, lang })).data.list as {
    id: number;
    title: string;
    content: string;
    data: Record<string, unknown>;
  }[];
const titles = async (buyer: Buyer) => (await inbox(buyer)).map(({ title }) => title);

test('an order that is paid and shipped writes messages, shown in the language of each request', async () => {
  const order = await at.buy({ price: 1290, quantities: [1] });
  await dispatchEvents(shop);
  const [shipped, paid] = await inbox(order);
  const { order_no } = (await shop.call('GET', `/api/v1/orders/${order.id}`, { token: order.token })).data;
  expect(paid).toMatchObject({
    title: 'Order paid',
    content: `We have received your payment of 12.90 for order ${order_no}.`,
    data: { order_id: order.id, order_no },
  });
  expect(shipped!.content).toBe(`Your order ${order_no} is on its way: SF Express SF${order.id}.`);
  const [, chinese] = await inbox(order, 'zh-CN');
  expect(chinese).toMatchObject({ title: '订单支付成功', content: `您的订单 ${order_no} 已支付成功，金额 12.90。` });
  const unread = await shop.call('GET', '/api/v1/messages/unread', { token: order.token });
  expect(unread.data).toEqual({ system: 0, order: 2, marketing: 0, im: 0 });
  // Messages about events need no attention of staff.
  const counts = await shop.call('GET', '/admin/api/messages/unread-counts', { token: at.staff });
  expect(counts.data.order).toBe(0);
});

test('an event that is dispatched again writes no second message', async () => {
  const order = await at.buy({ status: 'paid' });
  await dispatchEvents(shop);
  const { sql } = shop.database;
  await sql`update runtime.outbox set dispatched_at = null where subject = ${`order:${order.id}`}`;
  await dispatchEvents(shop);
  expect(await titles(order)).toEqual(['Order paid']);
});

test('acts of the shopper write no message', async () => {
  const cancelled = await at.buy({ status: 'unpaid' });
  await shop.call('POST', `/api/v1/orders/${cancelled.id}/cancel`, { token: cancelled.token });
  const closed = await at.buy({ status: 'unpaid' });
  await shop.call('POST', '/admin/api/orders/batch/close', { token: at.staff, body: { ids: [closed.id] } });
  await dispatchEvents(shop);
  expect([await titles(cancelled), await titles(closed)]).toEqual([[], ['Order closed']]);
});

test('the moves of after-sale cases are events; those of the merchant write messages, and a refund writes one', async () => {
  const order = await at.buy({ quantities: [1, 1, 1] });
  const returned = await at.openCase(order, 'return', 1);
  await at.act(returned, 'audit', { approve: true });
  await at.sendBack(order, returned);
  await at.act(returned, 'receive');
  await at.act(returned, 'refund', {});
  await at.act(returned, 'complete');
  const exchanged = await at.openCase(order, 'exchange', 1, 1);
  await at.act(exchanged, 'audit', { approve: true });
  await at.sendBack(order, exchanged);
  await at.act(exchanged, 'receive');
  expect((await at.reship(order, exchanged)).code).toBe(0);
  await at.act(await at.openCase(order, 'return', 1, 2), 'audit', { approve: false, audit_remark: 'Worn' });
  const { sql } = shop.database;
  const events = await sql<{ name: string; data: Record<string, unknown> }[]>`
    select name, data from runtime.outbox where subject = ${`order:${order.id}`} and name like 'after\\_sale.%' order by id`;
  const names = (list: string) => list.split(' ').map((name) => `after_sale.${name}`);
  expect(events.map(({ name }) => name)).toEqual([
    ...names('applied approved return_shipped received refunded completed'),
    ...names('applied approved return_shipped received reshipped'),
    ...names('applied rejected'),
  ]);
  expect(events[4]!.data).toMatchObject({
    case_id: returned,
    user_id: order.user_id,
    refund_amount: 1000,
    operator: 'admin',
  });
  await dispatchEvents(shop);
  expect(await titles(order)).toEqual([
    ...['After-sale rejected', 'Exchange shipped', 'Returned goods received', 'After-sale approved'],
    ...['Refund paid', 'Returned goods received', 'After-sale approved', 'Order shipped', 'Order paid'],
  ]);
  const [rejected] = await inbox(order);
  expect(rejected!.data).toMatchObject({ order_id: order.id, case_no: expect.stringMatching(/^AS/) });
});

test('an operator switches a template off, and changes texts; wrong names and values are refused', async () => {
  const { settings } = shop.server.runtime;
  await settings.setMany({
    'inbox.templates_off': ['order_shipped'],
    'inbox.template_texts': { order_paid: { title: { en: 'Thank you' }, content: { en: '{amount} for {order_no}' } } },
  });
  const order = await at.buy({ price: 500, quantities: [1] });
  await dispatchEvents(shop);
  const [only, ...none] = await inbox(order);
  expect(none).toEqual([]);
  expect(only).toMatchObject({ title: 'Thank you', content: expect.stringMatching(/^5\.00 for \w+$/) });
  expect((await inbox(order, 'zh-CN'))[0]).toMatchObject({ title: '订单支付成功' });
  const refused = (key: string, value: unknown) => expect(settings.set(key, value)).rejects.toThrow(key);
  await refused('inbox.templates_off', ['order_lost']);
  await refused('inbox.template_texts', { order_lost: { title: { en: 'x' } } });
  await refused('inbox.template_texts', { order_paid: { title: { en: '{phone}' } } });
  await refused('inbox.template_texts', { order_paid: { content: { en: '<b>paid</b>' } } });
  await settings.setMany({}, { unset: ['inbox.templates_off', 'inbox.template_texts'] });
});

test('a message whose template is gone keeps the text of the shop', async () => {
  const order = await at.buy({ status: 'paid' });
  await dispatchEvents(shop);
  await shop.database.sql`update message_centre.messages set template = 'gone' where user_id = ${order.user_id}`;
  const [english, chinese] = [await inbox(order), await inbox(order, 'zh-CN')];
  expect(english).toEqual(chinese);
  expect(english).toMatchObject([{ title: expect.stringMatching(/^(Order paid|订单支付成功)$/), data: {} }]);
});

test('the messages and marks of a deleted account go, and later events write none', async () => {
  const { sql } = shop.database;
  const order = await at.buy({ status: 'paid' });
  await shop.call('POST', '/admin/api/messages/send', {
    token: at.staff,
    body: { group: 'marketing', title: 'Sale', content: 'All mugs' },
  });
  await dispatchEvents(shop);
  const [sale] = await inbox(order);
  await shop.call('POST', '/api/v1/messages/read', { token: order.token, body: { ids: [sale!.id] } });
  await shop.call('POST', '/api/v1/messages/read-all', { token: order.token, body: { group: 'marketing' } });
  await sql`update identity.shoppers set phone = '13912345678' where id = ${order.user_id}`;
  const code = await shop.call('POST', '/api/v1/auth/sms/send', { body: { phone: '13912345678' } });
  expect(code.code, code.message).toBe(0);
  const deleted = await shop.call('POST', '/api/v1/user/delete', {
    token: order.token,
    body: { phone: '13912345678', code: code.data.dev_code },
  });
  expect(deleted.code, deleted.message).toBe(0);
  const facts = { order_id: order.id, order_no: 'N1', user_id: order.user_id, total_amount: 1 };
  await sql`
    insert into runtime.outbox (name, subject, data, occurred_at)
    values ('order.paid', ${`order:${order.id}`}, ${sql.json(facts)}, now())`;
  await dispatchEvents(shop);
  expect(await sql`select from message_centre.messages where user_id = ${order.user_id}`).toEqual([]);
  expect(await sql`select from message_centre.broadcast_reads where user_id = ${order.user_id}`).toEqual([]);
  expect(await sql`select from message_centre.read_positions where user_id = ${order.user_id}`).toEqual([]);
  expect(await auditViolations(sql)).toEqual([]);
});

test('every template has texts in both languages with its own values only', async () => {
  const templates = staticEntriesOf(modules)(inboxTemplates);
  expect(new Set(templates.map(({ name }) => name)).size).toBe(templates.length);
  for (const { name, title, content, params } of templates)
    for (const text of [...Object.values(title), ...Object.values(content)]) {
      expect(text, name).not.toBe('');
      for (const [, value] of text.matchAll(/\{(\w+)\}/g)) expect(params, name).toContain(value);
    }
});
