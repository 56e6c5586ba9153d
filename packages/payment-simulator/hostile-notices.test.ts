import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { buyOne, moneyFaults, moneyOf } from '@tradepost/testing/servers/payment-gateway';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPaymentSimulator, type PaymentSimulator } from './index.ts';
import type { ServiceName } from './service.ts';

/** What an attacker, a bad network and a killed process do between the shop and its payment services. */
let shop: Shop;
let simulator: PaymentSimulator;
beforeAll(async () => {
  simulator = await openPaymentSimulator();
  shop = await openShop({ only: 'api,worker' }, { 'pay.instant': false, 'pay.provider': 'wechat' });
  const { settings } = shop.server.runtime;
  for (const { key, value } of simulator.settings()) await settings.set(key, value);
  simulator.stripe.setEndpoint(`${shop.url}/api/v1/notify/stripe`);
});
afterAll(async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
  expect(await moneyFaults(shop)).toEqual([]);
  await shop.close();
  await simulator.close();
});

type Opened = Awaited<ReturnType<typeof buyOne>> & { payment_no: string; pay_url: string; pay_params: object };
const create = (token: string, body: object, lang = 'en') =>
  shop.call('POST', `/api/pay/create?lang=${lang}`, { token, body });
async function open(provider: ServiceName): Promise<Opened> {
  const bought = await buyOne(shop);
  const { code, message, data } = await create(bought.token, { order_id: bought.order_id, provider });
  expect([code, message]).toEqual([0, 'success']);
  if (provider === 'alipay') await fetch(data.pay_url, { redirect: 'manual' });
  return { ...bought, ...data };
}
const statusOf = async ({ order_id }: Opened) => (await moneyOf(shop, order_id)).status;
const runJob = (task: string, payload: object) =>
  shop.database.sql`select graphile_worker.add_job(${task}, ${JSON.stringify(payload)}::text::json)`;
const patient = { timeout: 10_000 };
const isAccepted = ({ status, text }: { status: number; text: string }) => status === 200 && text !== 'fail';

describe.each(['wechat', 'alipay', 'stripe'] as const)('%s', (service) => {
  test('a notice about a refund that comes before the notice of its payment pays and refunds nothing', async () => {
    const one = await open(service);
    const sim = simulator[service];
    sim.pay(one.payment_no);
    const refund = { refund_no: `BYHAND${one.order_id}`, payment_no: one.payment_no, amount: 100, notify_url: '' };
    sim.ledger.startRefund({ ...refund, status: 'succeeded' }, 'R');
    expect(isAccepted(await sim.notifyRefund(refund.refund_no))).toBe(true);
    // Alipay reports a refund by repeating the payment.
    expect(await statusOf(one)).toBe(service === 'alipay' ? 2 : 1);
    expect(isAccepted(await sim.notify(one.payment_no))).toBe(true);
    expect(await moneyOf(shop, one.order_id)).toMatchObject({ status: 2, confirms: 1, refunds: [] });
  });

  test('a notice for another account, or about the payment of another provider, pays nothing', async () => {
    const one = await open(service);
    const sim = simulator[service];
    sim.pay(one.payment_no);
    if (service !== 'stripe')
      expect(isAccepted(await sim.notify(one.payment_no, { account: '1900009999' }))).toBe(false);
    const other = service === 'alipay' ? 'wechat' : 'alipay';
    const foreign = await open(other);
    const { trade_no, ...trade } = simulator[other].ledger.trade(foreign.payment_no);
    sim.ledger.open({ ...trade, notify_url: `${shop.url}/api/v1/notify/${service}` });
    sim.pay(foreign.payment_no);
    expect(isAccepted(await sim.notify(foreign.payment_no))).toBe(false);
    expect([await statusOf(one), await statusOf(foreign)]).toEqual([1, 1]);
  });

  test('a body of three megabytes is refused before its signature is verified', async () => {
    const one = await open(service);
    simulator[service].pay(one.payment_no);
    const notice = simulator[service].paymentNotice(one.payment_no);
    const answer = await simulator[service].deliver({ ...notice, body: notice.body + ' '.repeat(3 * 2 ** 20) });
    expect(answer.status).toBe(413);
    expect(await statusOf(one)).toBe(1);
    expect(isAccepted(await simulator[service].deliver(notice))).toBe(true);
  });

  test('a payment whose opening was not recorded is opened again, by a shopper with another language', async () => {
    const one = await open(service);
    // As a process that was killed after the service had answered.
    await shop.database.sql`
      update orders.payments set pay_action = null, action_until = null where payment_no = ${one.payment_no}`;
    const again = await create(one.token, { order_id: one.order_id, provider: service }, 'zh-CN');
    expect(again).toMatchObject({ code: 0, data: { payment_no: one.payment_no } });
    expect(again.data.pay_params).toEqual(one.pay_params);
  });

  test('a refund whose request was not recorded is requested again, and made once', async () => {
    const one = await open(service);
    const sim = simulator[service];
    sim.pay(one.payment_no);
    await shop.call('POST', `/api/v1/orders/${one.order_id}/cancel`, { token: one.token });
    await sim.notify(one.payment_no);
    const { sql } = shop.database;
    const [refund] = await sql<{ refund_no: string }[]>`
      select refund_no from orders.refunds where order_id = ${one.order_id}`;
    const made = () => sim.ledger.refunds().filter(({ payment_no }) => payment_no === one.payment_no);
    await expect.poll(() => made().length, patient).toBe(1);
    const read = async () =>
      (await sql`select status, check_at from orders.refunds where order_id = ${one.order_id}`)[0]!;
    const isRecorded = async () => {
      const { status, check_at } = await read();
      return status === 'succeeded' || check_at !== null;
    };
    await expect.poll(isRecorded, patient).toBe(true);
    await sql.begin(async (tx) => {
      await tx`update orders.refunds set status = 'pending', attempts = 0, provider_ref = '', check_at = null, finished_at = null
        where order_id = ${one.order_id}`;
      await tx`update orders.payments set status = 'refunding' where order_id = ${one.order_id}`;
    });
    await runJob('payments.refund', refund!);
    await expect.poll(isRecorded, patient).toBe(true);
    if (service !== 'alipay') {
      sim.settleRefund(refund!.refund_no, 'succeeded');
      expect(isAccepted(await sim.notifyRefund(refund!.refund_no))).toBe(true);
    }
    await expect.poll(async () => (await read()).status, patient).toBe('succeeded');
    expect(made()).toMatchObject([{ amount: 1290 }]);
  });

  test('a payment that has ended at the service is not closed there again', async () => {
    const one = await open(service);
    simulator[service].ledger.close(one.payment_no);
    await shop.call('POST', `/api/v1/orders/${one.order_id}/cancel`, { token: one.token });
    await runJob('payments.sweep', {});
    const { sql } = shop.database;
    const closed = async () =>
      (await sql`select status from orders.payments where payment_no = ${one.payment_no}`)[0]!.status;
    await expect.poll(closed, patient).toBe('closed');
    const job = () => sql`
      select attempts, last_error from graphile_worker.jobs where key = ${`payments.check:${one.payment_no}`}`;
    await expect.poll(job, patient).toEqual([]);
  });
});

test('a service that does not answer holds no transaction, and other shoppers go on', async () => {
  const { settings } = shop.server.runtime;
  const right = simulator.settings().find(({ key }) => key === 'wechat_pay.api_url')!.value;
  let arrived = 0;
  const silent = createServer(() => {
    arrived += 1;
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const slow = await Promise.all(Array.from({ length: 12 }, () => buyOne(shop)));
  await settings.set('wechat_pay.api_url', `http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
  try {
    const waiting = slow.map(({ token, order_id }) => create(token, { order_id, provider: 'wechat' }));
    await expect.poll(() => arrived, patient).toBe(12);
    const [busy] = await shop.database.sql`
      select count(*)::int as n from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state like 'idle in transaction%'`;
    expect(busy!.n).toBe(0);
    const other = await open('stripe');
    simulator.stripe.pay(other.payment_no);
    expect(isAccepted(await simulator.stripe.notify(other.payment_no))).toBe(true);
    expect(await statusOf(other)).toBe(2);
    silent.closeAllConnections();
    for (const { code } of await Promise.all(waiting)) expect(code).toBe(503);
  } finally {
    await settings.set('wechat_pay.api_url', right);
    silent.closeAllConnections();
    await new Promise((resolve) => silent.close(resolve));
  }
});

describe('a provider whose answer is a QR code has a page', () => {
  const page = async (url: string) => {
    const response = await fetch(url, { redirect: 'manual' });
    return { status: response.status, location: response.headers.get('location'), text: await response.text() };
  };

  test('which shows the code of an order until it is paid, and then sends the shopper back', async () => {
    const one = await open('wechat');
    const url = `${shop.url}/pay/open/${one.payment_no}`;
    expect(await page(url)).toMatchObject({ status: 200, text: expect.stringContaining('<svg') });
    const back = 'https://shop.example/orders';
    await create(one.token, { order_id: one.order_id, provider: 'wechat', return_url: back });
    simulator.wechat.pay(one.payment_no);
    await simulator.wechat.notify(one.payment_no);
    expect(await page(url)).toMatchObject({ status: 302, location: back });
    expect((await page(`${shop.url}/pay/open/PAY00000000000000000000000`)).status).toBe(404);
  });

  test('so that a membership can be bought', async () => {
    const [plan] = await shop.database.sql<{ id: number }[]>`
      insert into vip.plans (name, months, price, renew_price) values ('Plan', 1, 990, 0) returning id`;
    const { token } = await shop.shopper();
    const { data } = await shop.call('POST', '/api/v1/vip/open', { token, body: { plan_id: plan!.id } });
    const { payment_no, pay_url } = data.payment;
    expect(await page(pay_url)).toMatchObject({ status: 200, text: expect.stringContaining('<svg') });
    simulator.wechat.pay(payment_no);
    expect(isAccepted(await simulator.wechat.notify(payment_no))).toBe(true);
    expect((await page(pay_url)).text).toContain('支付成功');
    expect((await shop.call('GET', '/api/v1/vip/profile', { token })).data.is_vip).toBe(true);
  });
});
