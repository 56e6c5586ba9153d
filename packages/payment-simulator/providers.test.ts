import { createHash } from 'node:crypto';
import { refundOrders } from '@tradepost/orders';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { testKeyFile } from '@tradepost/testing/servers/key-file';
import { buyOne, moneyFaults, moneyOf } from '@tradepost/testing/servers/payment-gateway';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPaymentSimulator, type PaymentSimulator } from './index.ts';
import type { ServiceName } from './service.ts';

/** Money moves through WeChat Pay, Alipay and Stripe as their protocols say, and none of it is lost. */
let shop: Shop;
let simulator: PaymentSimulator;
beforeAll(async () => {
  simulator = await openPaymentSimulator();
  shop = await openShop({ only: 'api,worker' });
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

type Opened = Awaited<ReturnType<typeof buyOne>> & { payment_no: string };
const create = (token: string, body: object) => shop.call('POST', '/api/pay/create', { token, body });

/** An unpaid order with a payment that is open at the service. */
async function open(
  provider: ServiceName,
  more: { price?: number; channel?: string; params?: object } = {},
): Promise<Opened> {
  const { price, ...request } = more;
  const bought = await buyOne(shop, price === undefined ? {} : { price });
  const { code, message, data } = await create(bought.token, { order_id: bought.order_id, provider, ...request });
  expect([code, message]).toEqual([0, 'success']);
  // Alipay knows a payment from the moment at which the shopper opens its page.
  if (provider === 'alipay') await fetch(data.pay_url, { redirect: 'manual' });
  return { ...bought, payment_no: data.payment_no };
}
const cancel = ({ order_id, token }: Opened) => shop.call('POST', `/api/v1/orders/${order_id}/cancel`, { token });
const refundsOf = (orderId: number) => shop.database.sql<{ refund_no: string; status: string; last_error: string }[]>`
  select refund_no, status, last_error from orders.refunds where order_id = ${orderId} order by id`;
/** Waits until the refund of an order was requested at the service, and returns its number. */
async function requested(service: ServiceName, orderId: number): Promise<string> {
  const [row] = await refundsOf(orderId);
  const known = () => simulator[service].ledger.refunds().some(({ refund_no }) => refund_no === row!.refund_no);
  await expect.poll(known, { timeout: 10_000 }).toBe(true);
  return row!.refund_no;
}
const runJob = (task: string, payload: object) =>
  shop.database.sql`select graphile_worker.add_job(${task}, ${JSON.stringify(payload)}::text::json)`;
const refunded = (orderId: number, status = 'succeeded') =>
  expect.poll(async () => (await refundsOf(orderId)).map((row) => row.status), { timeout: 10_000 }).toEqual([status]);

const accepted: Record<ServiceName, { status: number; text: string }> = {
  wechat: { status: 200, text: JSON.stringify({ code: 'SUCCESS', message: '成功' }) },
  alipay: { status: 200, text: 'success' },
  stripe: { status: 200, text: JSON.stringify({ received: true }) },
};
/** What the service takes as a refusal, after which it repeats the notice. */
function isRefused(service: ServiceName, { status, text }: { status: number; text: string }): boolean {
  return service === 'alipay' ? text === 'fail' : status >= 400;
}

describe.each(['wechat', 'alipay', 'stripe'] as const)('%s', (service) => {
  test('a notice pays the order once, and its repeats are accepted', async () => {
    const one = await open(service);
    const sim = simulator[service];
    sim.pay(one.payment_no);
    expect(await sim.notify(one.payment_no)).toEqual(accepted[service]);
    // A repeat is signed and encrypted again; the second one is the same message.
    const notice = sim.paymentNotice(one.payment_no);
    const repeats = await Promise.all([sim.deliver(notice), sim.deliver(notice), sim.notify(one.payment_no)]);
    expect(repeats).toEqual(Array(3).fill(accepted[service]));
    expect(await moneyOf(shop, one.order_id)).toMatchObject({ status: 2, confirms: 1, refunds: [] });
  });

  test('a notice with a wrong signature, another amount or about no payment pays nothing', async () => {
    const one = await open(service);
    const sim = simulator[service];
    sim.pay(one.payment_no);
    for (const wrong of [{ wrongSignature: true }, { amount: 1 }, { amount: 129_000 }])
      expect(isRefused(service, await sim.notify(one.payment_no, wrong)), JSON.stringify(wrong)).toBe(true);
    const notice = sim.paymentNotice(one.payment_no);
    const body = service === 'alipay' ? notice.body.replace('12.90', '0.01') : `${notice.body} `;
    const altered = { ...notice, body };
    expect(isRefused(service, await sim.deliver(altered))).toBe(true);
    expect(isRefused(service, await sim.deliver({ ...notice, body: '' }))).toBe(true);
    expect(await moneyOf(shop, one.order_id)).toMatchObject({ status: 1, confirms: 0, refunds: [] });
    expect(await sim.notify(one.payment_no)).toEqual(accepted[service]);
    expect((await moneyOf(shop, one.order_id)).status).toBe(2);
  });

  test('money that arrives after the order was cancelled is refunded at the service', async () => {
    const one = await open(service);
    const sim = simulator[service];
    sim.pay(one.payment_no);
    expect((await cancel(one)).code).toBe(0);
    expect(await sim.notify(one.payment_no)).toEqual(accepted[service]);
    const refund_no = await requested(service, one.order_id);
    expect(sim.ledger.refund(refund_no)).toMatchObject({ amount: 1290, payment_no: one.payment_no });
    if (service !== 'alipay') {
      sim.settleRefund(refund_no, 'succeeded');
      expect(await sim.notifyRefund(refund_no)).toEqual(accepted[service]);
    }
    await refunded(one.order_id);
    expect(await sim.notifyRefund(refund_no)).toEqual(accepted[service]);
    expect(await moneyOf(shop, one.order_id)).toMatchObject({
      status: 6,
      refunds: [{ status: 'succeeded', amount: 1290 }],
    });
  });

  test('a part of the money is refunded, then the rest, and not a cent more', async () => {
    const one = await open(service, { price: 1000 });
    const sim = simulator[service];
    sim.pay(one.payment_no);
    await sim.notify(one.payment_no);
    const options = { now: new Date(), attempts: 3 };
    const part = (refund_no: string, amount: number) =>
      shop.database.sql.begin((tx) =>
        refundOrders(tx, [{ order_id: one.order_id, refund_no, amount, reason: `test:${refund_no}` }], options),
      );
    const first = `A${one.order_id}`;
    const second = `B${one.order_id}`;
    expect(await part(first, 300)).toEqual([true]);
    expect(await part(second, 700)).toEqual([true]);
    expect(await part(`C${one.order_id}`, 1)).toEqual(['exceeds_paid']);
    for (const refund_no of [first, second])
      await expect
        .poll(() => sim.ledger.refunds().some((r) => r.refund_no === refund_no), { timeout: 10_000 })
        .toBe(true);
    if (service !== 'alipay')
      // The notices arrive in the other order.
      for (const refund_no of [second, first]) {
        sim.settleRefund(refund_no, 'succeeded');
        expect(await sim.notifyRefund(refund_no, {})).toEqual(accepted[service]);
      }
    const paymentStatus = async () => (await moneyOf(shop, one.order_id)).payments.map(({ status }) => status);
    await expect.poll(paymentStatus, { timeout: 10_000 }).toEqual(['refunded']);
    expect(sim.ledger.refundedOf(one.payment_no)).toBe(1000);
  });

  test('money whose notice was lost is found by asking the service', async () => {
    const one = await open(service);
    simulator[service].pay(one.payment_no);
    await runJob('payments.check', { payment_no: one.payment_no });
    await expect.poll(async () => (await moneyOf(shop, one.order_id)).status, { timeout: 10_000 }).toBe(2);
    expect(await simulator[service].notify(one.payment_no)).toEqual(accepted[service]);
    expect((await moneyOf(shop, one.order_id)).confirms).toBe(1);
  });

  test('a payment of a cancelled order is closed at the service', async () => {
    const one = await open(service);
    expect((await cancel(one)).code).toBe(0);
    await runJob('payments.sweep', {});
    await expect.poll(() => simulator[service].ledger.trade(one.payment_no).status, { timeout: 10_000 }).toBe('closed');
  });

  test('a service that does not answer refuses no later attempt, and loses no order', async () => {
    const { settings } = shop.server.runtime;
    const key = { wechat: 'wechat_pay.api_url', alipay: 'alipay.gateway_url', stripe: 'stripe.api_url' }[service];
    const right = simulator.settings().find((one) => one.key === key)!.value;
    const bought = await buyOne(shop);
    await settings.set(key, 'http://127.0.0.1:9');
    const request = { order_id: bought.order_id, provider: service };
    const away = await create(bought.token, request);
    await settings.set(key, right);
    // The page of Alipay is an address with a signature: it needs no call.
    if (service !== 'alipay') expect(away.code).toBe(503);
    expect((await create(bought.token, request)).code).toBe(0);
  });

  test('a provider that is not set up is refused by the name of the setting', async () => {
    const { settings } = shop.server.runtime;
    const key = { wechat: 'wechat_pay.mch_id', alipay: 'alipay.app_id', stripe: 'stripe.webhook_secret' }[service];
    const right = simulator.settings().find((one) => one.key === key)!.value;
    const { token, order_id } = await buyOne(shop);
    await settings.unset(key);
    const refused = await create(token, { order_id, provider: service });
    await settings.set(key, right);
    expect(refused).toMatchObject({ code: 500, message: expect.stringContaining(key) });
    const currency = service === 'stripe' ? 'JPY' : 'EUR';
    await settings.set('pay.currency', currency);
    const other = await create(token, { order_id, provider: service });
    await settings.unset('pay.currency');
    expect(other).toMatchObject({ code: 500, message: expect.stringContaining(currency) });
  });
});

describe.each(['wechat', 'alipay', 'stripe'] as const)('a membership, %s', (service) => {
  beforeAll(async () => {
    const { settings } = shop.server.runtime;
    await settings.set('pay.instant', false);
    await settings.set('pay.provider', service);
    await shop.database.sql`update vip.plans set status = 0`;
    await shop.database.sql`insert into vip.plans (name, months, price) values (${service}, 1, 1900)`;
  });
  afterAll(async () => {
    const { settings } = shop.server.runtime;
    await settings.set('pay.instant', true);
    await settings.unset('pay.provider');
  });

  /** A shopper who has been sent to the service to pay a membership. */
  async function openMembership() {
    const { token } = await shop.shopper();
    const [plan] = await shop.database.sql`select id from vip.plans where status = 1`;
    const { data, message } = await shop.call('POST', '/api/v1/vip/open', { token, body: { plan_id: plan!.id } });
    expect(message).toBe('success');
    const { payment_no, pay_url } = data.payment;
    // The page of the shop opens the payment at the service, and redirects there or shows its QR code. It may be opened again.
    const pages = [await fetch(pay_url, { redirect: 'manual' }), await fetch(pay_url, { redirect: 'manual' })];
    if (service === 'alipay') for (const page of pages) await fetch(page.headers.get('location') ?? pay_url);
    else expect(pages.map(({ status }) => status)).toEqual(Array(2).fill(service === 'wechat' ? 200 : 302));
    const isMember = async () => (await shop.call('GET', '/api/v1/vip/profile', { token })).data.is_vip as boolean;
    return { payment_no: payment_no as string, pay_url: pay_url as string, isMember };
  }

  test('begins with the notice, once', async () => {
    const { payment_no, isMember } = await openMembership();
    const sim = simulator[service];
    expect(sim.ledger.trade(payment_no)).toMatchObject({ amount: 1900 });
    sim.pay(payment_no);
    expect(await isMember()).toBe(false);
    expect(isRefused(service, await sim.notify(payment_no, { amount: 1 }))).toBe(true);
    expect(await isMember()).toBe(false);
    const notice = sim.paymentNotice(payment_no);
    const answers = await Promise.all([sim.deliver(notice), sim.deliver(notice), sim.notify(payment_no)]);
    expect(answers).toEqual(Array(3).fill(accepted[service]));
    expect(await isMember()).toBe(true);
    const [row] = await shop.database.sql`
      select a.months, a.status from vip.assets a join vip.purchases p using (user_id)
      where p.id = (select subject_id from orders.payments where payment_no = ${payment_no})`;
    expect(row).toMatchObject({ months: 1, status: 1 });
  });

  test('begins when the service is asked about money whose notice was lost, in time', async () => {
    const { payment_no, isMember } = await openMembership();
    simulator[service].pay(payment_no);
    if (service !== 'alipay') {
      // The job is due before the purchase expires.
      const [job] = await shop.database.sql`
        select run_at < p.expires_at as in_time from graphile_worker.jobs j, orders.payments p
        where j.key = ${`payments.check:${payment_no}`} and p.payment_no = ${payment_no}`;
      expect(job).toMatchObject({ in_time: true });
    }
    await runJob('payments.check', { payment_no });
    await expect.poll(isMember, { timeout: 10_000 }).toBe(true);
  });

  test('that expired is not opened at the service any more', async () => {
    const { payment_no, pay_url } = await openMembership();
    await shop.database.sql`
      update orders.payments set expires_at = now() - interval '1 second' where payment_no = ${payment_no}`;
    expect((await fetch(pay_url, { redirect: 'manual' })).status).toBe(404);
  });
});

describe('WeChat Pay', () => {
  test('opens in each channel: a QR code, a page for browsers, and parameters for its app', async () => {
    const { token, order_id } = await buyOne(shop);
    const native = await create(token, { order_id });
    // The payment_method of the order chooses the provider.
    expect(native.data).toMatchObject({ provider: 'wechat', channel: 'native', pay_url: '' });
    expect(native.data.pay_params).toEqual({ code_url: expect.stringMatching(/^weixin:/) });
    expect((await create(token, { order_id })).data).toEqual(native.data);
    const h5 = await create(token, { order_id, channel: 'h5', return_url: 'https://shop.example/orders' });
    expect(h5.data.pay_url).toContain(`redirect_url=${encodeURIComponent('https://shop.example/orders')}`);
    // Another channel is another payment: the service refuses a number that was opened in another way.
    expect(h5.data.payment_no).not.toBe(native.data.payment_no);
    expect(await create(token, { order_id, channel: 'jsapi' })).toMatchObject({ code: 400 });
    expect(await create(token, { order_id, channel: 'app' })).toMatchObject({ code: 400 });
    const jsapi = await create(token, { order_id, channel: 'jsapi', params: { openid: 'o-test-1' } });
    expect(Object.keys(jsapi.data.pay_params).sort()).toEqual(
      ['appId', 'nonceStr', 'package', 'paySign', 'signType', 'timeStamp'].sort(),
    );
    expect(jsapi.data.pay_params.package).toBe(`prepay_id=${jsapi.data.prepay_id}`);
  });

  test('a new platform certificate is downloaded, and money is accepted without a restart', async () => {
    const one = await open('wechat');
    simulator.wechat.pay(one.payment_no);
    simulator.wechat.rotate();
    expect(await simulator.wechat.notify(one.payment_no)).toEqual(accepted.wechat);
  });

  test('an old notice is refused', async () => {
    const one = await open('wechat');
    simulator.wechat.pay(one.payment_no);
    expect((await simulator.wechat.notify(one.payment_no, { age: 3_600 })).status).toBe(401);
    expect(await simulator.wechat.notify(one.payment_no)).toEqual(accepted.wechat);
  });

  test('a refund that failed at the service is listed, and a late notice of an earlier state does not change it back', async () => {
    const one = await open('wechat');
    simulator.wechat.pay(one.payment_no);
    await cancel(one);
    await simulator.wechat.notify(one.payment_no);
    const refund_no = await requested('wechat', one.order_id);
    simulator.wechat.settleRefund(refund_no, 'failed');
    const failed = simulator.wechat.refundNotice(refund_no);
    expect(await simulator.wechat.deliver(failed)).toEqual(accepted.wechat);
    await refunded(one.order_id, 'failed');
    expect((await refundsOf(one.order_id))[0]!.last_error).toContain('ABNORMAL');
    // The bank carries it out after all; then the first notice arrives again.
    simulator.wechat.settleRefund(refund_no, 'succeeded');
    expect((await simulator.wechat.notifyRefund(refund_no, { amount: 1 })).status).toBe(500);
    expect(await simulator.wechat.notifyRefund(refund_no)).toEqual(accepted.wechat);
    expect(await simulator.wechat.deliver(failed)).toEqual(accepted.wechat);
    await refunded(one.order_id);
  });

  test('a merchant with a public key needs no certificate', async () => {
    const { settings } = shop.server.runtime;
    const { id, pem } = simulator.wechat.usePublicKey(true);
    await settings.set('wechat_pay.public_key', pem);
    await settings.set('wechat_pay.public_key_id', id);
    try {
      const one = await open('wechat');
      simulator.wechat.pay(one.payment_no);
      expect(await simulator.wechat.notify(one.payment_no)).toEqual(accepted.wechat);
    } finally {
      simulator.wechat.usePublicKey(false);
      await settings.unset('wechat_pay.public_key_id');
      await settings.unset('wechat_pay.public_key');
    }
  });
});

test('Alipay opens a page, a page for phones, and an order text for apps', async () => {
  const { sku_ids } = await insertProduct(shop.database, { price: 1290, stocks: [10] });
  const { token, address_id } = await shop.shopper();
  const body = { address_id, payment_method: 'alipay', items: [{ sku_id: sku_ids[0] }] };
  const { data: order } = await shop.call('POST', '/api/v1/orders', { token, body });
  const page = await create(token, { order_id: order.id });
  expect(page.data).toMatchObject({ provider: 'alipay', channel: 'page' });
  expect(new URL(page.data.pay_url).searchParams.get('method')).toBe('alipay.trade.page.pay');
  const wap = await create(token, { order_id: order.id, channel: 'wap' });
  expect(new URL(wap.data.pay_url).searchParams.get('method')).toBe('alipay.trade.wap.pay');
  const app = await create(token, { order_id: order.id, channel: 'app' });
  expect(new URLSearchParams(app.data.pay_params.orderStr).get('method')).toBe('alipay.trade.app.pay');
  // The address is signed: the service refuses it when a letter of it differs.
  const altered = page.data.pay_url.replace('12.90', '0.01');
  expect(await (await fetch(altered, { redirect: 'manual' })).text()).toContain('isv.invalid-signature');
});

describe('Stripe', () => {
  test('is a payment method of orders while its module runs, and sends the shopper to its page', async () => {
    const { sku_ids } = await insertProduct(shop.database, { price: 1290, stocks: [10] });
    const { token, address_id } = await shop.shopper();
    const body = { address_id, payment_method: 'stripe', items: [{ sku_id: sku_ids[0] }] };
    const { data: order } = await shop.call('POST', '/api/v1/orders', { token, body });
    expect([order.payment_method, order.payment_method_label]).toEqual(['stripe', 'Stripe']);
    const { data } = await create(token, { order_id: order.id });
    expect(data).toMatchObject({ provider: 'stripe', prepay_id: `cs_test_${data.payment_no}` });
    expect((await fetch(data.pay_url)).status).toBe(200);
  });

  test('is the payment method of an order without one in a shop that is paid at Stripe', async () => {
    const { settings } = shop.server.runtime;
    const { sku_ids } = await insertProduct(shop.database, { price: 1290, stocks: [10] });
    const { token, address_id } = await shop.shopper();
    const place = async (method?: string) => {
      const body = { address_id, items: [{ sku_id: sku_ids[0] }], payment_method: method };
      return (await shop.call('POST', '/api/v1/orders', { token, body })).data.payment_method;
    };
    expect(await place()).toBe('wechat');
    await settings.set('pay.provider', 'stripe');
    try {
      expect([await place(), await place('wechat')]).toEqual(['stripe', 'wechat']);
    } finally {
      await settings.unset('pay.provider');
    }
  });

  test('is the payment method of an order that it has paid, whatever the client sent', async () => {
    const one = await open('stripe');
    const methodOf = async () => {
      const { data } = await shop.call('GET', `/api/v1/orders/${one.order_id}`, { token: one.token });
      return [data.payment_method, data.payment_method_label];
    };
    expect(await methodOf()).toEqual(['wechat', 'WeChat Pay']);
    simulator.stripe.pay(one.payment_no);
    await simulator.stripe.notify(one.payment_no);
    expect(await methodOf()).toEqual(['stripe', 'Stripe']);
    const [payment] = await shop.database.sql`select method from orders.payments where payment_no = ${one.payment_no}`;
    expect(payment).toEqual({ method: 'stripe' });
  });

  test('another currency than that of the payment pays nothing', async () => {
    const one = await open('stripe');
    simulator.stripe.pay(one.payment_no);
    expect((await simulator.stripe.notify(one.payment_no, { currency: 'USD' })).status).toBe(400);
    expect((await moneyOf(shop, one.order_id)).status).toBe(1);
  });

  test('an expired session lets the shopper open another one', async () => {
    const one = await open('stripe');
    simulator.stripe.ledger.close(one.payment_no);
    expect(await simulator.stripe.notify(one.payment_no)).toEqual(accepted.stripe);
    const again = await create(one.token, { order_id: one.order_id, provider: 'stripe' });
    expect(again.data.payment_no).not.toBe(one.payment_no);
    simulator.stripe.pay(again.data.payment_no);
    expect(await simulator.stripe.notify(again.data.payment_no)).toEqual(accepted.stripe);
    expect((await moneyOf(shop, one.order_id)).status).toBe(2);
  });
});

test('a request with a wrong key is refused by each service, as the real ones do', async () => {
  const digest = createHash('sha256').update('x').digest('base64');
  const wechat = await fetch(`${simulator.url}/wechat/v3/certificates`, {
    headers: { authorization: `WECHATPAY2-SHA256-RSA2048 mchid="1900000001",signature="${digest}"` },
  });
  expect(wechat.status).toBe(401);
  expect(
    (await fetch(`${simulator.url}/v1/refunds`, { headers: { authorization: 'Bearer sk_test_other' } })).status,
  ).toBe(401);
});

describe.each(['wechat', 'alipay', 'stripe'] as const)('tradepost pay reconcile, %s', (service) => {
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const run = (...args: string[]) =>
    runCommandInProcess(['pay', 'reconcile', ...args], {
      env: { DATABASE_URL: shop.database.url, TRADEPOST_SECRETS_KEY_FILE: testKeyFile },
    });
  const compare = async (...payments: string[]) => {
    const { code, stdout } = await run('--provider', service, '--from', day(-1), '--to', day(1), '--json');
    type Row = { payment_no: string; problem: string; kind: string; shop: unknown; theirs: unknown };
    const { differences } = JSON.parse(stdout) as { differences: Row[] };
    return { code, rows: differences.filter(({ payment_no }) => payments.includes(payment_no)) };
  };
  const paid = async () => {
    const one = await open(service);
    simulator[service].pay(one.payment_no);
    await simulator[service].notify(one.payment_no);
    return one.payment_no;
  };

  test('finds money without an order, orders without money, and other amounts, and nothing else', async () => {
    const { ledger } = simulator[service];
    const [same, cheaper, missing] = [await paid(), await paid(), await paid()];
    const lost = await open(service);
    simulator[service].pay(lost.payment_no);
    expect((await compare(same)).rows).toEqual([]);
    ledger.trade(cheaper).amount = 1200;
    const trade = { ...ledger.trade(missing) };
    ledger.forget(missing);
    const { code, rows } = await compare(same, cheaper, missing, lost.payment_no);
    ledger.trade(cheaper).amount = 1290;
    ledger.open(trade);
    ledger.pay(missing, '');
    Object.assign(ledger.trade(missing), trade);
    expect(code).toBe(1);
    const shown = Object.fromEntries(
      rows.map(({ payment_no, problem, shop: ours, theirs }) => [payment_no, [problem, ours, theirs]]),
    );
    const whole = { amount: 12.9, currency: 'CNY', status: 'succeeded' };
    expect(shown).toEqual({
      [cheaper]: ['amount', whole, { ...whole, amount: 12 }],
      [missing]: ['only_in_shop', whole, null],
      [lost.payment_no]: ['status', { ...whole, status: 'pending' }, whole],
    });
    expect(rows).toHaveLength(3);
  });

  test('finds refunds that only the service has', async () => {
    const { ledger } = simulator[service];
    const payment_no = await paid();
    ledger.startRefund(
      { refund_no: `BYHAND${payment_no}`, payment_no, amount: 100, notify_url: '', status: 'succeeded' },
      'R',
    );
    const { rows } = await compare(payment_no);
    expect(rows).toMatchObject([{ kind: 'refund', problem: 'only_at_provider', theirs: { amount: 1 } }]);
  });
});

test('tradepost pay reconcile compares the other providers when one of them fails, and says so', async () => {
  const { settings } = shop.server.runtime;
  const right = simulator.settings().find(({ key }) => key === 'wechat_pay.api_url')!.value;
  await settings.set('wechat_pay.api_url', 'http://127.0.0.1:9');
  const env = { DATABASE_URL: shop.database.url, TRADEPOST_SECRETS_KEY_FILE: testKeyFile };
  try {
    const { code, stdout } = await runCommandInProcess(['pay', 'reconcile', '--json'], { env });
    expect(code).toBe(1);
    expect(JSON.parse(stdout).providers).toMatchObject([
      { provider: 'wechat', error: expect.stringContaining('fetch failed') },
      { provider: 'alipay', error: '' },
      { provider: 'stripe', error: '' },
    ]);
    const shown = await runCommandInProcess(['pay', 'reconcile'], { env });
    expect(shown).toMatchObject({ code: 1, stdout: expect.stringContaining('wechat: not complete: fetch failed') });
  } finally {
    await settings.set('wechat_pay.api_url', right);
  }
});

test('tradepost pay reconcile refuses a wrong period and an unknown provider', async () => {
  const env = { DATABASE_URL: shop.database.url, TRADEPOST_SECRETS_KEY_FILE: testKeyFile };
  for (const args of [
    ['--provider', 'sandbox'],
    ['--from', 'May'],
    ['--from', '2026-03-01', '--to', '2026-05-01'],
  ]) {
    const { code, stderr } = await runCommandInProcess(['pay', 'reconcile', ...args], { env });
    expect([code, stderr !== ''], args.join(' ')).toEqual([2, true]);
  }
});
