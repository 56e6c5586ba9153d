import { auditViolations } from '@tradepost/testing/audit-violations';
import { dispatchEvents } from '@tradepost/testing/dispatch-events';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { leaveReader } from './groups/leave-groups.ts';
import { type Buyer, type Offered, openGroupShop } from './testing/group-shop.ts';

/** Groups of shoppers: without these rules a shop ships at the group price without a group, or keeps money of failed groups. */
let shop: Shop;
let groups: Awaited<ReturnType<typeof openGroupShop>>;
let offer: Offered;
let other: Offered;
let [ann, bob, eve]: Buyer[] = [];
beforeAll(async () => {
  shop = await openShop();
  groups = await openGroupShop(shop);
  [offer, other] = groups.offers as [Offered, Offered];
  [ann, bob, eve] = [await shop.shopper(), await shop.shopper(), await shop.shopper()];
});
afterAll(async () => {
  if (!shop) return;
  await dispatchEvents(shop);
  expect(await auditViolations(shop.database.sql)).toEqual([]);
  await shop.close();
});

const refusal = ({ code, message }: { code: number; message: string }) => [code, message];
const titles = async ({ token }: Buyer) => {
  const { data } = await shop.call('GET', '/api/v1/messages?size=50', { token });
  return data.list.map(({ title }: { title: string }) => title);
};

describe('a group', () => {
  test('is opened by its leader and completed by the last member, field by field', async () => {
    const group = await groups.open(ann!, offer);
    expect(group).toEqual({
      id: expect.any(Number),
      activity_id: groups.activity_id,
      activity_product_id: offer.row,
      activity_name: 'Two for mugs',
      product_id: offer.product_id,
      sku_id: offer.sku_id,
      group_price: 8,
      leader_id: ann!.id,
      group_size: 2,
      joined_count: 1,
      status: 'pending',
      status_label: 'Pending',
      expire_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$/),
      created_at: expect.any(String),
      ended_at: null,
    });
    expect(Date.parse(group.expire_at) - Date.parse(group.created_at)).toBe(24 * 60 * 60 * 1000);
    const order_id = await groups.join(bob!, group.id, offer);
    expect(await groups.read(eve!, group.id)).toMatchObject({ joined_count: 2, status: 'success' });
    const members = await groups.members(bob!, group.id);
    expect(members).toEqual([
      {
        id: expect.any(Number),
        group_order_id: group.id,
        user_id: ann!.id,
        order_id: 0,
        is_leader: true,
        user_nickname: 's***',
        created_at: expect.any(String),
      },
      {
        id: expect.any(Number),
        group_order_id: group.id,
        user_id: bob!.id,
        order_id,
        is_leader: false,
        user_nickname: bob!.username,
        created_at: expect.any(String),
      },
    ]);
    const zh = await shop.call('GET', `/api/v1/group-buy/orders/${group.id}`, { token: ann!.token, lang: 'zh-CN' });
    expect(zh.data.status_label).toBe('拼团成功');
    await dispatchEvents(shop);
    expect([await titles(ann!), await titles(bob!)]).toEqual([
      ['Your group is complete'],
      expect.arrayContaining(['Your group is complete']),
    ]);
  });

  test('without a SKU takes the row of the product; a product or SKU of no row is refused', async () => {
    const body = { activity_id: groups.activity_id, product_id: offer.product_id };
    const call = (fields: object) =>
      shop.call('POST', '/api/v1/group-buy/orders', { token: ann!.token, body: { ...body, ...fields } });
    expect((await call({ sku_id: '' })).data).toMatchObject({ sku_id: offer.sku_id, group_price: 8 });
    const unknown = [1, 'The activity does not have this product'];
    for (const fields of [{ sku_id: 999_999 }, { product_id: 999_999 }, { activity_id: 999_999 }])
      expect(refusal(await call(fields))).toEqual(unknown);
    expect((await call({ product_id: 0 })).message).toMatch(/^product_id/);
    const { sql } = shop.database;
    await sql`update activities.activities set status = 0`;
    expect(refusal(await call({}))).toEqual([1, 'The activity is not running']);
    await sql`update activities.activities set status = 1, start_at = now() + interval '1 hour'`;
    expect(refusal(await call({}))).toEqual([1, 'The activity is not running']);
    await sql`update activities.activities set start_at = now() - interval '1 hour'`;
    await sql`update activities.activity_products set total_stock_limit = greatest(sold_qty, 1), sold_qty = greatest(sold_qty, 1)`;
    expect(refusal(await call({}))).toEqual([1, 'The activity is sold out']);
    await sql`update activities.activity_products set total_stock_limit = 0, sold_qty = 0 where sku_id <> ${offer.sku_id}`;
    await sql`update activities.activity_products set total_stock_limit = 0 where sku_id = ${offer.sku_id}`;
  });

  test('a leader attaches an own order once, which does not count as a member', async () => {
    const { id } = await groups.open(ann!, offer);
    const first = await groups.join(ann!, id, offer, false);
    expect(await groups.read(ann!, id)).toMatchObject({ joined_count: 1, status: 'pending' });
    expect(await groups.members(ann!, id)).toMatchObject([{ order_id: first, is_leader: true }]);
    const second = await groups.order(ann!, offer);
    const again = [1, 'You are a member of this group already'];
    expect(refusal(await groups.tryJoin(ann!, id, second))).toEqual(again);
    await groups.join(bob!, id, offer);
    expect(await groups.read(ann!, id)).toMatchObject({ status: 'success', ended_at: expect.any(String) });
  });

  test("has its leader's next order without a call of `join`: it is held, and refunded when the group fails", async () => {
    const { id } = await groups.open(ann!, offer);
    const elsewhere = await groups.order(ann!, other);
    const order = await groups.order(ann!, offer);
    expect(await groups.members(ann!, id)).toMatchObject([{ user_id: ann!.id, order_id: order, is_leader: true }]);
    expect(await groups.read(ann!, id)).toMatchObject({ joined_count: 1, status: 'pending' });
    expect((await groups.ship(order)).code).toBe(500);
    expect((await groups.ship(elsewhere)).code).toBe(0);
    for (const _ of [1, 2]) expect((await groups.tryJoin(ann!, id, order)).code).toBe(0);
    // A quote attaches nothing, and a cancelled order leaves the place to the next one.
    const { id: second } = await groups.open(ann!, offer);
    const items = [{ sku_id: offer.sku_id, activity_product_id: offer.row }];
    await groups.send('POST', '/api/v1/orders/quote', ann!.token, { items });
    const unpaid = await groups.order(ann!, offer, false);
    expect(await groups.members(ann!, second)).toMatchObject([{ order_id: unpaid }]);
    await groups.send('POST', `/api/v1/orders/${unpaid}/cancel`, ann!.token);
    await dispatchEvents(shop);
    expect(await groups.members(ann!, second)).toMatchObject([{ order_id: 0 }]);
    const next = await groups.order(ann!, offer);
    expect(await groups.members(ann!, second)).toMatchObject([{ order_id: next }]);
    await groups.join(bob!, second, offer);
    expect((await groups.tryJoin(ann!, second, next)).code).toBe(0);
    expect((await groups.ship(next)).code).toBe(0);
    await groups.passTime(id);
    await groups.sweep();
    expect(await groups.statusOf(order)).toBe(6);
    const refunds = await shop.database.sql`select amount from orders.refunds where order_id = ${order}`;
    expect(refunds).toEqual([{ amount: 800 }]);
  });

  test('takes an order that its leader placed before: a paid one first, and never one that is shipped or in a group', async () => {
    const dan = await shop.shopper();
    const [paid, newer] = [await groups.order(dan, offer), await groups.order(dan, offer, false)];
    expect((await groups.ship(await groups.order(dan, offer))).code).toBe(0);
    const opened = async () => {
      const { id } = await groups.open(dan, offer);
      return (await groups.members(dan, id))[0].order_id;
    };
    expect(await groups.open(dan, other)).toMatchObject({ joined_count: 1 });
    expect([await opened(), await opened(), await opened()]).toEqual([paid, newer, 0]);
    expect((await groups.ship(paid)).code).toBe(500);
  });

  test("lets another shopper's group have the order of a leader who joins it", async () => {
    const dan = await shop.shopper();
    const led = await groups.open(dan, offer);
    const group = await groups.open(ann!, other);
    const { id } = await groups.open(bob!, offer);
    const order = await groups.order(dan, offer);
    expect(refusal(await groups.tryJoin(dan, group.id, order))[1]).toBe('The order has no item of this group buy');
    expect((await groups.tryJoin(dan, id, order)).code).toBe(0);
    expect(await groups.members(dan, led.id)).toMatchObject([{ order_id: 0 }]);
    expect(await groups.read(dan, id)).toMatchObject({ status: 'success' });
    expect(refusal(await groups.tryJoin(dan, led.id, order))).toEqual([1, 'The order belongs to a group already']);
    // The order of another shopper is not found, whether it is in a group or not.
    expect(refusal(await groups.tryJoin(eve!, group.id, order))).toEqual([1, 'Order not found']);
  });

  test('each reason not to join has its own text', async () => {
    const { id } = await groups.open(ann!, offer);
    const paid = await groups.order(bob!, offer);
    expect(refusal(await groups.tryJoin(bob!, 999_999, paid))).toEqual([1, 'Group not found']);
    expect(refusal(await groups.tryJoin(eve!, id, paid))).toEqual([1, 'Order not found']);
    expect(refusal(await groups.tryJoin(bob!, id, await groups.order(bob!, other)))).toEqual([
      1,
      'The order has no item of this group buy',
    ]);
    const notOpen = [1, 'Only an order that waits for payment or shipment can join a group'];
    const cancelled = await groups.order(bob!, offer, false);
    await groups.send('POST', `/api/v1/orders/${cancelled}/cancel`, bob!.token);
    expect(refusal(await groups.tryJoin(bob!, id, cancelled))).toEqual(notOpen);
    const expired = await groups.order(bob!, offer, false);
    const { sql } = shop.database;
    await sql`update orders.orders set expires_at = now() - interval '1 second' where id = ${expired}`;
    expect(refusal(await groups.tryJoin(bob!, id, expired))).toEqual(notOpen);
    await sql`update orders.orders set expires_at = now() + interval '1 hour' where id = ${expired}`;
    const alone = await groups.order(bob!, offer);
    expect((await groups.ship(alone)).code).toBe(0);
    expect(refusal(await groups.tryJoin(bob!, id, alone))).toEqual(notOpen);
    const elsewhere = await groups.open(eve!, offer);
    await groups.join(bob!, elsewhere.id, offer);
    expect(refusal(await groups.tryJoin(bob!, elsewhere.id, paid))).toEqual([1, 'The group is full']);
    const [member] = await sql<{ order_id: number }[]>`
      select order_id from group_buy.members where group_id = ${elsewhere.id} and user_id = ${bob!.id}`;
    expect(refusal(await groups.tryJoin(bob!, id, member!.order_id))).toEqual([
      1,
      'The order belongs to a group already',
    ]);
    await groups.passTime(id);
    expect(refusal(await groups.tryJoin(bob!, id, paid))).toEqual([1, 'The group has expired']);
    await groups.sweep();
    expect(refusal(await groups.tryJoin(bob!, id, paid))).toEqual([1, 'The group has failed']);
    expect(
      (await shop.call('POST', `/api/v1/group-buy/orders/${id}/join`, { token: bob!.token, body: {} })).message,
    ).toMatch(/^order_id/);
    for (const path of [`/api/v1/group-buy/orders/${id}`, `/api/v1/group-buy/orders/${id}/members`])
      expect((await shop.call('GET', path)).status).toBe(401);
  });

  test('loses a member whose order is cancelled or refunded while it is open; a leader only loses the order', async () => {
    await groups.send('PUT', `/admin/api/group-buy/activities/${groups.activity_id}`, groups.staff, { group_size: 3 });
    const { id } = await groups.open(ann!, offer);
    await groups.send('PUT', `/admin/api/group-buy/activities/${groups.activity_id}`, groups.staff, { group_size: 2 });
    const leading = await groups.join(ann!, id, offer, false);
    const following = await groups.join(bob!, id, offer, false);
    expect(await groups.read(ann!, id)).toMatchObject({ joined_count: 2, group_size: 3 });
    for (const [buyer, order] of [
      [ann!, leading],
      [bob!, following],
    ] as const)
      await groups.send('POST', `/api/v1/orders/${order}/cancel`, buyer.token);
    await dispatchEvents(shop);
    expect(await groups.read(ann!, id)).toMatchObject({ joined_count: 1, status: 'pending' });
    expect(await groups.members(ann!, id)).toMatchObject([{ user_id: ann!.id, order_id: 0 }]);
    // The shopper who left can join again, and a repeated event changes nothing.
    const paid = await groups.join(bob!, id, offer);
    const event = { id: 1, name: 'order.cancelled', subject: '', occurred_at: new Date() };
    await shop.server.runtime.sql.begin((tx) => leaveReader.read(tx, [{ ...event, data: { order_id: following } }]));
    expect(await groups.read(ann!, id)).toMatchObject({ joined_count: 2 });
    const ended = { ...event, name: 'order.after_sale_ended' };
    await shop.server.runtime.sql
      .begin(async (tx) => {
        await leaveReader.read(tx, [{ ...ended, data: { order_id: paid, status: 2 } }]);
        expect(await tx`select from group_buy.members where order_id = ${paid}`).toHaveLength(1);
        await leaveReader.read(tx, [{ ...ended, data: { order_id: paid, status: 6 } }]);
        expect(await tx`select joined_count from group_buy.groups where id = ${id}`).toEqual([{ joined_count: 1 }]);
        throw new Error('undo');
      })
      .catch((error: Error) => expect(error.message).toBe('undo'));
  });
});

describe('a paid order', () => {
  test('of an open group is not shipped, alone or in a batch; after the success it is', async () => {
    const { id } = await groups.open(ann!, offer);
    const order = await groups.join(ann!, id, offer);
    const held = [500, 'The group of this order is not complete, so the order can be neither shipped nor returned'];
    expect(refusal(await groups.ship(order))).toEqual(held);
    const batch = [{ order_id: order, company: 'SF', tracking_no: 'SF1' }];
    const many = await shop.call('POST', '/admin/api/orders/batch/ship', { token: groups.staff, body: batch });
    expect(many.data).toEqual({ success_ids: [], fail: [{ id: order, reason: held[1] }] });
    expect(await groups.statusOf(order)).toBe(2);
    const returned = (of: typeof ann) =>
      shop.call('POST', `/api/v1/orders/${order}/after-sales`, {
        token: of!.token,
        body: { case_type: 'return', reason: 'No longer needed', items: [{ order_item_id: line, qty: 1 }] },
      });
    const [{ id: line }] = (await shop.call('GET', `/api/v1/orders/${order}`, { token: ann!.token })).data.items;
    expect(refusal(await returned(ann))).toEqual(held);
    expect(refusal(await returned(bob))).toEqual([404, 'Order not found']);
    await groups.join(bob!, id, offer);
    expect(refusal(await groups.ship(order))).toEqual([0, 'success']);
  });

  test('without a group is an ordinary sale at the group price', async () => {
    const order = await groups.order(eve!, offer);
    const { data } = await shop.call('GET', `/api/v1/orders/${order}`, { token: eve!.token });
    expect(data).toMatchObject({ total_amount: 8, activity_type: 'group_buy' });
    expect((await groups.ship(order)).code).toBe(0);
  });

  test('of a failed group is refunded in full and restocked; an unpaid one is left, and refunded when it is paid later', async () => {
    const { sql } = shop.database;
    const stock = async () =>
      (await sql`select stock, reserved_stock from catalog.product_skus where id = ${offer.sku_id}`)[0];
    const before = await stock();
    await groups.send('PUT', `/admin/api/group-buy/activities/${groups.activity_id}`, groups.staff, { group_size: 4 });
    const { id } = await groups.open(ann!, offer);
    await groups.send('PUT', `/admin/api/group-buy/activities/${groups.activity_id}`, groups.staff, { group_size: 2 });
    const paid = [await groups.join(ann!, id, offer), await groups.join(bob!, id, offer)];
    const late = await groups.join(eve!, id, offer, false);
    await groups.sweep();
    expect(await groups.read(ann!, id)).toMatchObject({ status: 'pending', joined_count: 3 });
    await groups.passTime(id);
    await Promise.all([groups.sweep(), groups.sweep(), groups.sweep()]);
    expect(await groups.read(ann!, id)).toMatchObject({ status: 'failed', status_label: 'Failed', joined_count: 3 });
    expect(await Promise.all([...paid, late].map(groups.statusOf))).toEqual([6, 6, 1]);
    const refunds = () =>
      sql`select order_id, amount, status from orders.refunds where order_id = any(${[...paid, late]})`;
    expect(await refunds()).toHaveLength(2);
    // The order is paid although its group has failed: it is held, and the next run refunds it.
    await groups.send('POST', `/api/v1/orders/${late}/pay`, eve!.token);
    expect((await groups.ship(late)).code).toBe(500);
    await groups.sweep();
    expect(await groups.statusOf(late)).toBe(6);
    expect((await refunds()).map(({ amount, status }) => [amount, status])).toEqual(Array(3).fill([800, 'succeeded']));
    expect(await stock()).toEqual(before);
    expect(await sql`select from group_buy.members where refund_due`).toEqual([]);
    await groups.sweep();
    await dispatchEvents(shop);
    expect(await refunds()).toHaveLength(3);
    expect(await titles(eve!)).toEqual(expect.arrayContaining(['Your group was not completed', 'Refund paid']));
    expect((await titles(bob!)).filter((title: string) => title === 'Your group was not completed')).toHaveLength(1);
  });
});

test('the back office lists groups with filters, and one group with its members', async () => {
  const { id } = await groups.open(ann!, other);
  const list = async (query: string) => await groups.send('GET', `/admin/api/group-buy/orders${query}`, groups.staff);
  const [newest] = (await list('')).list;
  expect(newest).toMatchObject({ id, status: 'pending', leader_nickname: ann!.username, product_title: 'Enamel mug' });
  const { total } = await list('?status=&activity_id=');
  expect((await list('?status=-1')).total).toBe(total);
  const counts = await Promise.all(
    ['pending', 'success', 'failed'].map(async (s) => (await list(`?status=${s}`)).total),
  );
  expect(counts.every((n) => n > 0)).toBe(true);
  expect(counts.reduce((sum, n) => sum + n, 0)).toBe(total);
  expect(await list(`?activity_id=999999`)).toEqual({ list: [], total: 0, page: 1, size: 20 });
  expect(await list(`?activity_id=${groups.activity_id}&page=2&size=1`)).toMatchObject({ total, page: 2, size: 1 });
  expect((await list('?page=99')).total).toBe(total);
  expect((await shop.call('GET', '/admin/api/group-buy/orders?status=open', { token: groups.staff })).message).toMatch(
    /^status/,
  );
  expect(await groups.send('GET', `/admin/api/group-buy/orders/${id}`, groups.staff)).toEqual(newest);
  expect(await groups.send('GET', `/admin/api/group-buy/orders/${id}/members`, groups.staff)).toMatchObject([
    { user_id: ann!.id, user_nickname: ann!.username, is_leader: true },
  ]);
  for (const path of ['999999', '999999/members'])
    expect((await shop.call('GET', `/admin/api/group-buy/orders/${path}`, { token: groups.staff })).code).toBe(1);
  const clerk = await shop.server.tokens.issue({ role: 'admin', id: 9, perms: ['bargain:view'] });
  expect((await shop.call('GET', '/admin/api/group-buy/orders', { token: clerk })).code).toBe(403);
});
