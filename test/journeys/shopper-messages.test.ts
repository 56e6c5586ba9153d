import { auditViolations } from '@tradepost/testing/audit-violations';
import { openWebhook, type Webhook } from '@tradepost/testing/servers/message-webhook';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

/** The messages that a shopper gets about one order, from a running shop with a worker. */
let shop: Shop;
let webhook: Webhook;
beforeAll(async () => {
  webhook = await openWebhook();
  shop = await openShop({ only: ['api', 'worker'] }, { ...webhook.settings, 'notices.enabled': ['order_shipped'] });
});
afterAll(async () => {
  await shop?.close();
  await webhook?.close();
});

test('a buyer is reminded to pay, and gets a message when the order is shipped', async () => {
  const { sql } = shop.database;
  const staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  const { token, address_id } = await shop.shopper();
  const { sku_ids } = await insertProduct(shop.database, { price: 1290 });
  const order = await shop.call('POST', '/api/v1/orders', {
    token,
    body: { address_id, items: [{ sku_id: sku_ids[0], qty: 1 }] },
  });
  const { id, order_no } = order.data;
  const arrived = (count: number) => vi.waitFor(() => expect(webhook.posted).toHaveLength(count), 15_000);

  const path = `/admin/api/orders/${id}`;
  expect((await shop.call('POST', `${path}/remind-pay`, { token: staff, body: { channel: 'sms' } })).code).toBe(0);
  await arrived(1);
  expect(webhook.posted[0]!.message).toMatchObject({
    kind: 'remind_pay',
    phone: '13800000000',
    params: { order_no, amount: '12.90' },
  });
  await vi.waitFor(async () => {
    const { data } = await shop.call('GET', `${path}/reminders`, { token: staff });
    expect(data).toMatchObject([{ channel: 'sms', status: 'sent', attempts: 1, sent_at: expect.any(String) }]);
  }, 5_000);

  await shop.call('POST', `/api/v1/orders/${id}/pay`, { token });
  const parcel = { company: 'SF', tracking_no: 'SF1390000000001' };
  for (let click = 0; click < 2; click += 1) await shop.call('PUT', `${path}/ship`, { token: staff, body: parcel });
  await arrived(2);
  expect(webhook.posted[1]!.message).toMatchObject({
    kind: 'order_shipped',
    phone: '13800000000',
    params: { order_no },
    text: expect.stringMatching(/[\u4e00-\u9fff].*SF1390000000001.* is on its way/),
  });
  await vi.waitFor(async () => {
    expect(await sql`select 1 from identity.messages where status = 'sent'`).toHaveLength(1);
  }, 5_000);
  expect(await auditViolations(sql)).toEqual([]);
});
