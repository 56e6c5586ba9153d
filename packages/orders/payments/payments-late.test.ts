import { runJobsOnce } from '@tradepost/app';
import { openLog } from '@tradepost/runtime';
import { auditViolations } from '@tradepost/testing/audit-violations';
import {
  buyOne,
  moneyFaults,
  moneyOf,
  notify,
  openPayment,
  paySecret,
} from '@tradepost/testing/servers/payment-gateway';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

/** An order is payable until it expires, whether or not the sweep has cancelled it. */
let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
beforeEach(() => shop.server.runtime.settings.set('pay.sandbox.secret', paySecret));
afterAll(async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
  expect(await moneyFaults(shop)).toEqual([]);
  await shop.close();
});

type Of = { token: string; order_id: number };
const post = ({ token }: Of, path: string, body?: object) =>
  shop.call('POST', path, { token, ...(body ? { body } : {}) });
const payNow = (of: Of) => post(of, `/api/v1/orders/${of.order_id}/pay`);
const create = (of: Of, provider: string) => post(of, '/api/pay/create', { order_id: of.order_id, provider });
const cannotPay = { status: 200, code: 500, message: 'Order not found or cannot pay in current status' };
const expire = (ids: readonly number[]) => shop.database.sql`
  update orders.orders set expires_at = now() - interval '1 second' where id = any(${[...ids]}::bigint[])`;
/** Runs the sweep and the due refunds. */
async function sweep(): Promise<void> {
  await shop.database.sql`select graphile_worker.add_job('orders.expire', '{}')`;
  await runJobsOnce({ config: shop.server.runtime.config, log: openLog({ level: 'silent' }) });
}

test('an expired order cannot be paid in any way before the sweep, and the sweep cancels it', async () => {
  const [late, inTime] = [await buyOne(shop), await buyOne(shop)];
  await expire([late.order_id]);
  for (const answer of [await payNow(late), await create(late, 'instant'), await create(late, 'sandbox')])
    expect(answer).toMatchObject(cannotPay);
  expect(await moneyOf(shop, late.order_id)).toMatchObject({ status: 1, payments: [], confirms: 0 });
  expect((await payNow(inTime)).code).toBe(0);
  await sweep();
  expect((await moneyOf(shop, late.order_id)).status).toBe(6);
  expect((await moneyOf(shop, inTime.order_id)).status).toBe(2);
});

test('payments of expired and payable orders in one batch are each decided by their own expiry', async () => {
  const buyers = await Promise.all(Array.from({ length: 10 }, () => buyOne(shop)));
  const late = buyers.filter((_, index) => index % 2 === 1);
  await expire(late.map((buyer) => buyer.order_id));
  const answers = await Promise.all(buyers.map(payNow));
  expect(answers.map((answer) => answer.code)).toEqual(buyers.map((_, index) => (index % 2 ? 500 : 0)));
});

test('money that arrives after the expiry is refunded, whether the sweep runs before or after the notice', async () => {
  const [before, after] = [await openPayment(shop), await openPayment(shop)];
  await expire([before.order_id, after.order_id]);
  const sendNotice = (of: typeof before) =>
    notify(shop, { payment_no: of.payment_no, amount: of.total, trade_no: `LATE-${of.order_id}` });
  expect((await sendNotice(before)).data.status).toBe('refunding');
  expect(await moneyOf(shop, before.order_id)).toMatchObject({
    status: 1,
    confirms: 0,
    refunds: [{ status: 'pending', reason: 'order_expired', amount: 1290 }],
  });
  await sweep();
  expect((await sendNotice(after)).data.status).toBe('refunding');
  await sweep();
  for (const [of, reason] of [
    [before, 'order_expired'],
    [after, 'order_cancelled'],
  ] as const) {
    expect(await moneyOf(shop, of.order_id)).toMatchObject({
      status: 6,
      payments: [{ status: 'refunded' }],
      refunds: [{ status: 'succeeded', reason, amount: 1290 }],
    });
    expect((await sendNotice(of)).data.status, 'the repeated notice').toBe('refunded');
  }
});

test('orders that expire during notices, payments and sweeps are paid or cancelled, never both', async () => {
  const crowd = await Promise.all(Array.from({ length: 12 }, () => openPayment(shop)));
  // Each order expires at another moment of the test.
  await shop.database.sql`
    update orders.orders o set expires_at = clock_timestamp() + make_interval(secs => n * 0.08)
    from unnest(${crowd.map((one) => one.order_id)}::bigint[]) with ordinality as c (id, n) where o.id = c.id`;
  const end = Date.now() + 1_200;
  const sweeping = (async () => {
    while (Date.now() < end) await sweep();
  })();
  await Promise.all(
    crowd.map(async (one, index) => {
      await new Promise((resolve) => setTimeout(resolve, (index + 1) * 80 - 10));
      const notice = { payment_no: one.payment_no, amount: one.total, trade_no: `RACE-${one.order_id}` };
      await Promise.all([notify(shop, notice), index % 2 ? payNow(one) : create(one, 'instant')]);
    }),
  );
  await sweeping;
  await sweep();
  for (const one of crowd) {
    const { status, payments, confirms } = await moneyOf(shop, one.order_id);
    const succeeded = payments.filter((payment) => payment.status === 'succeeded').length;
    expect([status, succeeded, confirms]).toEqual(status === 2 ? [2, 1, 1] : [6, 0, 0]);
    const byNotice = payments.filter((payment) => payment.trade_no !== null);
    expect(byNotice).toHaveLength(1);
    expect(['succeeded', 'refunded']).toContain(byNotice[0]!.status);
  }
});

test('an order that can no longer be paid can be neither repriced nor reminded of', async () => {
  const late = await buyOne(shop);
  await expire([late.order_id]);
  const token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  const path = `/admin/api/orders/${late.order_id}`;
  const [line] = await shop.database.sql`select id from orders.order_items where order_id = ${late.order_id}`;
  expect(
    await shop.call('POST', `${path}/repricing`, { token, body: { items: [{ item_id: line!.id, price: 5 }] } }),
  ).toMatchObject({ code: 500, message: 'Only an unpaid order can be repriced' });
  expect(await shop.call('POST', `${path}/remind-pay`, { token, body: { channel: 'sms' } })).toMatchObject({
    code: 500,
    message: 'Only an unpaid order can be reminded of',
  });
});
