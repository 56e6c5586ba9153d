import { auditViolations } from '@tradepost/testing/audit-violations';
import { dispatchEvents } from '@tradepost/testing/dispatch-events';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { maxMessagesPerShopper } from './limits.ts';

let shop: Shop;
let staff: string;
beforeAll(async () => {
  shop = await openShop({}, { 'shop.timezone': 'Asia/Shanghai' });
  staff = await shop.server.tokens.issue({ role: 'admin', id: 7, perms: ['message:view', 'message:send'] });
});
afterAll(() => shop?.close());

type Buyer = { id: number; token: string };
const get = async (path: string, token: string, lang?: string) => {
  const answer = await shop.call('GET', path, { token, ...(lang ? { lang } : {}) });
  expect(answer.code, answer.message).toBe(0);
  return answer.data;
};
const post = (path: string, token: string, body: unknown, headers?: Record<string, string>) =>
  shop.call('POST', path, { token, body, ...(headers ? { headers } : {}) });
const send = async (body: object) => {
  const answer = await post('/admin/api/messages/send', staff, { title: 'Hello', content: 'A text', ...body });
  expect([answer.code, answer.data], answer.message).toEqual([0, null]);
};
const titles = async ({ token }: Buyer, query = '') =>
  (await get(`/api/v1/messages?size=50${query}`, token)).list.map(({ title }: { title: string }) => title);
const unread = ({ token }: Buyer) => get('/api/v1/messages/unread', token);
const newest = async ({ token }: Buyer) => (await get('/api/v1/messages', token)).list[0];

test('a message to one shopper is read by that shopper alone', async () => {
  const [ann, bob] = [await shop.shopper(), await shop.shopper()];
  await send({ user_id: ann.id, group: 'order', title: 'For Ann' });
  const message = await newest(ann);
  expect(message).toEqual({
    id: message.id,
    ...{
      user_id: ann.id,
      group: 'order',
      priority: 'normal',
      title: 'For Ann',
      content: 'A text',
      is_read: 0,
      data: {},
    },
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$/),
  });
  expect(await unread(ann)).toEqual({ system: 0, order: 1, marketing: 0, im: 0 });
  expect(await titles(bob)).toEqual([]);
  // A foreign id changes nothing.
  expect((await post('/api/v1/messages/read', bob.token, { ids: [message.id] })).code).toBe(0);
  expect(await unread(ann)).toMatchObject({ order: 1 });
  expect((await post('/api/v1/messages/read', ann.token, { ids: [message.id, message.id, 999_999] })).code).toBe(0);
  expect(await unread(ann)).toMatchObject({ order: 0 });
  expect(await newest(ann)).toMatchObject({ is_read: 1 });
  expect(await unread(bob)).toEqual({ system: 0, order: 0, marketing: 0, im: 0 });
});

describe('a broadcast', () => {
  test('is one row; each shopper reads it alone, and only readers have a mark', async () => {
    const [ann, bob] = [await shop.shopper(), await shop.shopper()];
    const { sql } = shop.database;
    const rows = async () => (await sql`select count(*)::int as n from message_centre.messages`)[0]!.n;
    const before = await rows();
    await send({ group: 'marketing', title: 'Sale' });
    expect(await rows()).toBe(before + 1);
    const message = await newest(ann);
    expect(message).toMatchObject({ user_id: 0, title: 'Sale', is_read: 0 });
    await post('/api/v1/messages/read', ann.token, { ids: [message.id] });
    expect([await unread(ann), await unread(bob)]).toMatchObject([{ marketing: 0 }, { marketing: 1 }]);
    expect([(await newest(ann)).is_read, (await newest(bob)).is_read]).toEqual([1, 0]);
    expect(await sql`select user_id from message_centre.broadcast_reads where message_id = ${message.id}`).toEqual([
      { user_id: ann.id },
    ]);
  });

  test('from before the registration is neither shown nor counted, and cannot be marked', async () => {
    await send({ group: 'im', title: 'Old news' });
    const late = await shop.shopper();
    expect(await titles(late)).toEqual([]);
    expect(await unread(late)).toEqual({ system: 0, order: 0, marketing: 0, im: 0 });
    const [row] = await shop.database.sql<{ id: number }[]>`
      select id from message_centre.messages where title = 'Old news'`;
    await post('/api/v1/messages/read', late.token, { ids: [row!.id] });
    expect(await shop.database.sql`select from message_centre.broadcast_reads where user_id = ${late.id}`).toEqual([]);
  });
});

test('reading all of a group leaves the other groups unread, and later messages are unread again', async () => {
  const ann = await shop.shopper();
  await send({ group: 'marketing', title: 'All 1' });
  await send({ group: 'marketing', title: 'All 2' });
  await send({ group: 'system', title: 'All 3' });
  await send({ group: 'marketing', title: 'Mine', user_id: ann.id });
  await post('/api/v1/messages/read', ann.token, { ids: [(await newest(ann)).id - 2] });
  expect((await post('/api/v1/messages/read-all', ann.token, { group: 'marketing' })).code).toBe(0);
  expect(await unread(ann)).toEqual({ system: 1, order: 0, marketing: 0, im: 0 });
  expect(await shop.database.sql`select from message_centre.broadcast_reads where user_id = ${ann.id}`).toEqual([]);
  await send({ group: 'marketing', title: 'All 4' });
  expect(await unread(ann)).toMatchObject({ marketing: 1 });
  expect(await titles(ann, '&group=marketing')).toEqual(['All 4', 'Mine', 'All 2', 'All 1']);
  await post('/api/v1/messages/read-all', ann.token, {});
  expect(await unread(ann)).toEqual({ system: 0, order: 0, marketing: 0, im: 0 });
});

test('lists are paged, an empty group means all groups, and bad input names its field', async () => {
  const ann = await shop.shopper();
  for (const title of ['One', 'Two', 'Three']) await send({ user_id: ann.id, title });
  expect(await get('/api/v1/messages?group=&page=2&size=2', ann.token)).toMatchObject({ total: 3, page: 2, size: 2 });
  expect(await get('/api/v1/messages?size=51', ann.token)).toMatchObject({ size: 20 });
  expect(await get('/api/v1/messages?page=99', ann.token)).toMatchObject({ list: [], total: 3 });
  const fieldOf = async (path: string, body: unknown, token = staff) => (await post(path, token, body)).message;
  const path = '/admin/api/messages/send';
  expect((await shop.call('GET', '/api/v1/messages?group=spam', { token: ann.token })).message).toMatch(/^group/);
  expect(await fieldOf(path, { title: ' ', content: 'x' })).toMatch(/^title/);
  expect(await fieldOf(path, { title: 'two\nlines', content: 'x' })).toMatch(/^title/);
  expect(await fieldOf(path, { title: 'x' })).toMatch(/^content/);
  expect(await fieldOf(path, { title: 'x'.repeat(201), content: 'x' })).toMatch(/^title/);
  expect(await fieldOf(path, { title: 'x', content: 'x', group: 'spam' })).toMatch(/^group/);
  expect(await fieldOf(path, { title: 'x', content: 'x', user_id: -1 })).toMatch(/^user_id/);
  expect(await fieldOf(path, { title: 'x', content: 'x', user_id: 999_999 })).toMatch(/^user_id/);
  expect(await fieldOf(path, { title: 'x', content: '<img src=x onerror=alert(1)>' })).toMatch(/^content/);
  expect(await fieldOf('/api/v1/messages/read', { ids: ['x'] }, ann.token)).toMatch(/^ids/);
  expect(await fieldOf('/api/v1/messages/read', { ids: Array(201).fill(1) }, ann.token)).toMatch(/^ids/);
  await send({ user_id: ann.id, title: 'Prices', content: '3 < x & y > 6\n<3' });
  expect(await newest(ann)).toMatchObject({ content: '3 < x & y > 6\n<3' });
});

test('the back office lists all messages and keeps its own state of them', async () => {
  const ann = await shop.shopper();
  const counts = () => get('/admin/api/messages/unread-counts', staff);
  const before = await counts();
  await send({ user_id: ann.id, group: 'im', title: 'Staff see this', priority: 'urgent' });
  const [row] = (await get('/admin/api/messages?group=im', staff)).list;
  expect(row).toMatchObject({ user_id: ann.id, group: 'im', title: 'Staff see this', priority: 'urgent', is_read: 0 });
  expect(row).toMatchObject({ read_by_user: 0, user_nickname: ann.username });
  expect(await counts()).toEqual({ ...before, im: before.im + 1 });
  expect((await shop.call('PUT', `/admin/api/messages/${row.id}/read`, { token: staff })).code).toBe(0);
  expect(await counts()).toEqual(before);
  expect(await unread(ann)).toMatchObject({ im: 1 });
  await post('/api/v1/messages/read-all', ann.token, {});
  const [after] = (await get(`/admin/api/messages?user_id=${ann.id}`, staff)).list;
  expect(after).toMatchObject({ id: row.id, is_read: 1, read_by_user: 1 });
  expect((await shop.call('PUT', '/admin/api/messages/999999/read', { token: staff })).code).toBe(404);
  const viewer = await shop.server.tokens.issue({ role: 'admin', id: 8, perms: ['message:view'] });
  expect((await post('/admin/api/messages/send', viewer, { title: 'x', content: 'x' })).code).toBe(403);
});

test('a repeat with its Idempotency-Key sends once, and the limits of sending hold', async () => {
  const ann = await shop.shopper();
  const headers = { 'Idempotency-Key': 'send-1' };
  const body = { user_id: ann.id, title: 'Once', content: 'x' };
  for (let n = 0; n < 3; n += 1) await post('/admin/api/messages/send', staff, body, headers);
  expect(await titles(ann)).toEqual(['Once']);
  const { settings } = shop.server.runtime;
  await settings.set('inbox.broadcasts_per_day', 1);
  expect((await post('/admin/api/messages/send', staff, { title: 'x', content: 'x' })).code).toBe(429);
  await send({ user_id: ann.id });
  await settings.set('inbox.sends_per_minute', 1);
  expect((await post('/admin/api/messages/send', staff, { ...body })).code).toBe(429);
  await settings.setMany({}, { unset: ['inbox.broadcasts_per_day', 'inbox.sends_per_minute'] });
});

test('a value of an event does not become HTML in a message, in the list and as stored', async () => {
  const ann = await shop.shopper();
  const { sku_ids } = await insertProduct(shop.database);
  const items = [{ sku_id: sku_ids[0] }];
  const placed = await post('/api/v1/orders', ann.token, { address_id: ann.address_id, items });
  await post(`/api/v1/orders/${placed.data.id}/pay`, ann.token, {});
  const shipper = await shop.server.tokens.issue({ role: 'admin', id: 7, perms: ['order:ship'] });
  const body = { company: 'SF', tracking_no: '<img src=x onerror=go()><3' };
  const shipped = await shop.call('PUT', `/admin/api/orders/${placed.data.id}/ship`, { token: shipper, body });
  expect(shipped.code, shipped.message).toBe(0);
  await dispatchEvents(shop);
  const { content } = await newest(ann);
  expect(content).toContain('< img src=x onerror=go()><3');
  const rows = await shop.database.sql`
    select content from message_centre.messages where template = 'order_shipped' and user_id = ${ann.id}`;
  expect(rows.map((row) => row.content)).toEqual([expect.stringContaining('< img src=x')]);
});

test('a shopper keeps the newest messages only', async () => {
  const ann = await shop.shopper();
  await shop.database.sql`
    insert into message_centre.messages (user_id, message_group, title, content, created_at)
    select ${ann.id}, 'order', 'No ' || n, 'x', now() - interval '1 day' from generate_series(1, ${maxMessagesPerShopper}) n`;
  await send({ user_id: ann.id, group: 'order' });
  const answer = await get('/api/v1/messages?size=1&page=500', ann.token);
  expect([answer.total, answer.list[0].title]).toEqual([maxMessagesPerShopper, 'No 2']);
  expect(await unread(ann)).toMatchObject({ order: maxMessagesPerShopper });
});

test('reads and sends at once keep the counts exact', async () => {
  const buyers = await Promise.all(Array.from({ length: 4 }, () => shop.shopper()));
  const { settings } = shop.server.runtime;
  await settings.setMany({ 'inbox.sends_per_minute': 10_000, 'inbox.broadcasts_per_day': 1_000 });
  const readNewest = async (buyer: Buyer, some: number) => {
    const { list } = await get('/api/v1/messages?size=50', buyer.token);
    const ids = list.slice(0, some).map(({ id }: { id: number }) => id);
    expect((await post('/api/v1/messages/read', buyer.token, { ids: ids.toReversed() })).code).toBe(0);
  };
  // Sends wait for each other. On a slow machine the last ones wait longer than the lock timeout, and are refused with 503.
  const sendWhenFree = async (body: object) => {
    const message = { title: 'Hello', content: 'Text', ...body };
    let answer = await post('/admin/api/messages/send', staff, message);
    for (let n = 0; n < 10 && answer.status === 503; n += 1)
      answer = await post('/admin/api/messages/send', staff, message);
    expect([answer.code, answer.data], answer.message).toEqual([0, null]);
  };
  const rounds = Array.from({ length: 12 }, (_, n) => n);
  await Promise.all([
    ...rounds.map((n) => sendWhenFree({ group: n % 2 ? 'system' : 'marketing', user_id: 0 })),
    ...rounds.flatMap((n) => buyers.map(({ id }) => sendWhenFree({ user_id: id, group: n % 3 ? 'order' : 'system' }))),
    ...rounds.flatMap((n) => buyers.map((buyer) => readNewest(buyer, n))),
    ...buyers
      .slice(2)
      .flatMap(({ token }) => rounds.map(() => post('/api/v1/messages/read-all', token, { group: 'system' }))),
  ]);
  for (const buyer of buyers) {
    const { list, total } = await get('/api/v1/messages?size=50', buyer.token);
    expect(total).toBe(24);
    const counted: Record<string, number> = { system: 0, order: 0, marketing: 0, im: 0 };
    for (const { group, is_read } of list) counted[group]! += 1 - is_read;
    expect(await unread(buyer)).toEqual(counted);
  }
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});

test('the demo shopper finds messages, and a shop without the module has no routes and writes nothing', async () => {
  const demo = await openShop({ seed: 'demo' });
  try {
    const token = await demo.login('demo', 'demo123456');
    const { data } = await demo.call('GET', '/api/v1/messages/unread', { token });
    expect(data).toEqual({ system: 2, order: 0, marketing: 1, im: 0 });
  } finally {
    await demo.close();
  }
  const without = await openShop({ modules: '-message-centre' });
  try {
    const { token } = await without.shopper();
    expect((await without.call('GET', '/api/v1/messages', { token })).status).toBe(404);
    const admin = await without.server.tokens.issue({ role: 'admin', id: 7, perms: ['*'] });
    const menus = await without.call('GET', '/admin/api/menus', { token: admin });
    expect(JSON.stringify(menus.data)).not.toContain('/message');
    await without.database.sql`
      insert into runtime.outbox (name, subject, data, occurred_at)
      values ('order.paid', 'order:1', '{"order_id": 1, "order_no": "N1", "user_id": 1, "total_amount": 5}', now())`;
    await dispatchEvents(without);
    expect(await without.database.sql`select from message_centre.messages`).toEqual([]);
    expect(await without.database.sql`select from runtime.outbox where dispatched_at is null`).toEqual([]);
  } finally {
    await without.close();
  }
});
