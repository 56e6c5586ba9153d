import { auditViolations } from '@tradepost/testing/audit-violations';
import { chinese, expectFields } from '@tradepost/testing/routes/contract';
import {
  buyOne,
  moneyFaults,
  moneyOf,
  newNonce,
  notify,
  type OpenedPayment,
  openPayment,
  paySecret,
  unixNow,
} from '@tradepost/testing/servers/payment-gateway';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

/** Money of a provider counts once, for the right order, in the right amount; other money is refunded. */
let shop: Shop;

const create = (token: string, body: object) => shop.call('POST', '/api/pay/create', { token, body });
const status = (token: string, query: string) => shop.call('GET', `/api/pay/status?${query}`, { token });
const payNow = ({ token, order_id }: { token: string; order_id: number }) =>
  shop.call('POST', `/api/v1/orders/${order_id}/pay`, { token });
const cancel = ({ token, order_id }: { token: string; order_id: number }) =>
  shop.call('POST', `/api/v1/orders/${order_id}/cancel`, { token });
const paidOnce = (amount: number, trade_no: string | null = 'T1') => ({
  status: 2,
  inventory_status: 'confirmed',
  payments: [{ status: 'succeeded', trade_no, amount }],
  refunds: [],
  confirms: 1,
});
const refundJobs = async () =>
  (
    await shop.database
      .sql`select count(*)::int as n from graphile_worker.jobs where task_identifier = 'payments.refund'`
  )[0]!.n as number;
let trade = 0;
const nextTrade = () => {
  trade += 1;
  return `TRADE-${trade}`;
};

/** In groups, concurrent calls are decided within a batch. One by one, they are decided by database locks only. */
describe.each([
  ['in groups', {}],
  ['one by one', { batchMax: 1, batchesInFlight: 8, databasePool: 12 }],
])('payments written %s', (_how, flags) => {
  beforeAll(async () => {
    shop = await openShop(flags);
  });
  beforeEach(() => shop.server.runtime.settings.set('pay.sandbox.secret', paySecret));
  afterAll(async () => {
    expect(await auditViolations(shop.database.sql)).toEqual([]);
    expect(await moneyFaults(shop)).toEqual([]);
    await shop?.close();
  });

  describe('opening a payment', () => {
    test('returns the address, the amount and the expiry, in both languages', async () => {
      const { token, order_id, order_no } = await buyOne(shop);
      const { data } = await create(token, { order_id, return_url: 'https://shop.example/done' });
      expectFields(
        data,
        'payment_no s, provider s, order_id i, order_no s, amount n, currency s, status s, status_label s, pay_url s, expires_at t, ' +
          'paid_at null, refunded_at null, created_at t, order_status i, order_status_label s',
      );
      expect(data).toMatchObject({
        provider: 'sandbox',
        order_id,
        order_no,
        amount: 12.9,
        currency: 'CNY',
        status: 'pending',
      });
      expect(data.pay_url).toBe(`${shop.url}/pay/sandbox/${data.payment_no}`);
      const seen = await shop.call('GET', `/api/pay/status?order_id=${order_id}`, { token, lang: 'zh-CN' });
      expect(seen.data).toMatchObject({ payment_no: data.payment_no, status_label: '待支付' });
    });

    test('twenty times at once, and again later, returns one payment', async () => {
      const { token, order_id } = await buyOne(shop);
      const answers = await Promise.all(Array.from({ length: 20 }, () => create(token, { order_id })));
      const again = await create(token, { order_id, return_url: 'https://shop.example/b' });
      expect(new Set([...answers, again].map((answer) => answer.data.payment_no)).size).toBe(1);
      const rows = await shop.database.sql`select return_url from orders.payments where order_id = ${order_id}`;
      expect(rows.map((row) => row.return_url)).toEqual(['https://shop.example/b']);
    });

    test('is refused with the same text for an order that is paid, cancelled, expired, unknown or of another shopper', async () => {
      const [paid, cancelled, late, mine] = [
        await buyOne(shop),
        await buyOne(shop),
        await buyOne(shop),
        await buyOne(shop),
      ];
      await payNow(paid);
      await cancel(cancelled);
      await shop.database
        .sql`update orders.orders set expires_at = now() - interval '1 second' where id = ${late.order_id}`;
      const other = await shop.shopper();
      for (const [token, order_id] of [
        [paid.token, paid.order_id],
        [cancelled.token, cancelled.order_id],
        [late.token, late.order_id],
        [mine.token, 2 ** 40],
        [other.token, mine.order_id],
      ] as const)
        expect(await create(token, { order_id })).toMatchObject({
          status: 200,
          code: 500,
          message: 'Order not found or cannot pay in current status',
        });
      expect((await moneyOf(shop, mine.order_id)).payments).toEqual([]);
      await shop.database
        .sql`update orders.orders set expires_at = now() + interval '1 hour' where id = ${late.order_id}`;
    });

    test('in a batch of several shoppers each gets their own payment or a refusal', async () => {
      const [ann, bob] = [await buyOne(shop), await buyOne(shop)];
      for (let round = 0; round < 10; round += 1) {
        const answers = await Promise.all([
          create(bob.token, { order_id: ann.order_id }),
          create(ann.token, { order_id: ann.order_id }),
          create(bob.token, { order_id: bob.order_id }),
          create(ann.token, { order_id: bob.order_id }),
        ]);
        expect(answers.map((answer) => answer.code)).toEqual([500, 0, 0, 500]);
        expect([answers[1]!.data.order_id, answers[2]!.data.order_id]).toEqual([ann.order_id, bob.order_id]);
      }
    });

    test('an order that was repriced gets a new payment of the new total, and the old one is closed', async () => {
      const { token, order_id, payment_no } = await openPayment(shop);
      await shop.database.sql`update orders.orders set goods_amount = 1000, total_amount = 1000 where id = ${order_id}`;
      await shop.database
        .sql`update orders.order_items set price = 1000, payable_amount = 1000 where order_id = ${order_id}`;
      const { data } = await create(token, { order_id });
      expect(data).toMatchObject({ amount: 10, status: 'pending' });
      expect(data.payment_no).not.toBe(payment_no);
      expect((await status(token, `payment_no=${payment_no}`)).data).toMatchObject({ status: 'closed', pay_url: '' });
      // The closed payment was paid nevertheless. Its amount is not the total of the order.
      expect((await notify(shop, { payment_no, amount: 12.9, trade_no: nextTrade() })).data.status).toBe('refunding');
      expect((await notify(shop, { payment_no: data.payment_no, amount: 10, trade_no: nextTrade() })).data.status).toBe(
        'succeeded',
      );
      const money = await moneyOf(shop, order_id);
      expect(money).toMatchObject({ status: 2, confirms: 1, refunds: [{ reason: 'amount_changed', amount: 1290 }] });
    });

    test('without a secret the provider is refused with the name of the setting, in both languages', async () => {
      const { token, order_id } = await buyOne(shop);
      await shop.server.runtime.settings.set('pay.sandbox.secret', '');
      expect(await create(token, { order_id })).toMatchObject({
        code: 500,
        message: 'Payment provider sandbox is not set up: pay.sandbox.secret is missing',
      });
      expect(await notify(shop, { payment_no: 'PAY1', amount: 1 }, { secret: '' })).toMatchObject({ code: 500 });
      expect(
        (await shop.call('POST', '/api/pay/create', { token, body: { order_id }, lang: 'zh-CN' })).message,
      ).toMatch(chinese);
    });

    test('with the provider instant the order is paid at once', async () => {
      const bought = await buyOne(shop);
      const { data } = await create(bought.token, { order_id: bought.order_id, provider: 'instant' });
      expect(data).toMatchObject({ provider: 'instant', status: 'succeeded', pay_url: '', order_status: 2 });
      expect(data.payment_no).toMatch(/^I\d+$/);
      expect((await status(bought.token, `payment_no=${data.payment_no}`)).data).toMatchObject({
        order_id: bought.order_id,
      });
      expect(await moneyOf(shop, bought.order_id)).toEqual(paidOnce(1290, null));
    });

    test('instant payment can be disabled', async () => {
      const bought = await buyOne(shop);
      await shop.server.runtime.settings.set('pay.instant', false);
      try {
        expect(await payNow(bought)).toMatchObject({ status: 200, code: 500 });
        expect((await moneyOf(shop, bought.order_id)).status).toBe(1);
      } finally {
        await shop.server.runtime.settings.set('pay.instant', true);
      }
      expect((await payNow(bought)).code).toBe(0);
    });

    test('a return address that is not an http address is refused with the name of the field', async () => {
      const { token, order_id } = await buyOne(shop);
      for (const return_url of ['javascript:alert(1)', '//evil.example', 'data:text/html,x', 'x'])
        expect(await create(token, { order_id, return_url })).toMatchObject({
          code: 400,
          message: expect.stringContaining('return_url'),
        });
    });
  });

  describe('the status of a payment', () => {
    test('another shopper gets the same answer for an existing and a missing payment', async () => {
      const { payment_no, order_id, token } = await openPayment(shop);
      const other = await shop.shopper();
      const missing = await status(other.token, 'payment_no=PAY0');
      expect(missing).toMatchObject({ status: 200, code: 404 });
      expect((await status(other.token, `payment_no=${payment_no}`)).body).toEqual(missing.body);
      expect((await status(other.token, `order_id=${order_id}`)).body).toEqual(missing.body);
      expect((await status(token, `payment_no=${payment_no}&order_id=${order_id + 1}`)).code).toBe(404);
      for (const query of ['', 'payment_no=', 'payment_no=&order_id='])
        expect(await status(token, query)).toMatchObject({ code: 400, message: expect.stringContaining('payment_no') });
    });

    test('an open payment of a cancelled order is answered as closed', async () => {
      const opened = await openPayment(shop);
      await cancel(opened);
      expect((await status(opened.token, `payment_no=${opened.payment_no}`)).data).toMatchObject({
        status: 'closed',
        order_status: 6,
        pay_url: '',
      });
    });
  });

  describe('a notice of success', () => {
    test('pays the order once, also when it is repeated', async () => {
      const { payment_no, order_id, token, total } = await openPayment(shop);
      const trade_no = nextTrade();
      const paid_at = new Date().toISOString();
      const first = await notify(shop, { payment_no, trade_no, amount: total, paid_at });
      expect(first.data).toEqual({ received: true, payment_no, status: 'succeeded' });
      for (let n = 0; n < 3; n += 1)
        expect((await notify(shop, { payment_no, trade_no, amount: total, paid_at })).data).toEqual(first.data);
      expect(await moneyOf(shop, order_id)).toEqual(paidOnce(1290, trade_no));
      const { data } = await status(token, `order_id=${order_id}`);
      expect(data).toMatchObject({ status: 'succeeded', order_status: 2, pay_url: '' });
      expect(data.paid_at).not.toBeNull();
      const [notice] = await shop.database.sql`
      select outcome, seen, order_id from orders.payment_notices where payment_no = ${payment_no}`;
      expect({ ...notice! }).toEqual({ outcome: 'paid', seen: 4, order_id });
    });

    test.each([
      ['with a nonce each', () => newNonce()],
      ['with one nonce', () => 'the-same-nonce'],
    ])('fifty at once, %s, confirm once and pay once; all fifty succeed', async (_how, nonce) => {
      const { payment_no, order_id, total } = await openPayment(shop);
      const trade_no = nextTrade();
      const timestamp = String(unixNow());
      const answers = await Promise.all(
        Array.from({ length: 50 }, () =>
          notify(shop, { payment_no, trade_no, amount: total }, { nonce: nonce(), timestamp }),
        ),
      );
      expect(answers.map((answer) => answer.data)).toEqual(
        answers.map(() => ({ received: true, payment_no, status: 'succeeded' })),
      );
      expect(await moneyOf(shop, order_id)).toEqual(paidOnce(1290, trade_no));
    });

    test('forty payments at once in any order: each pays its own order', async () => {
      const opened = await Promise.all(Array.from({ length: 40 }, () => openPayment(shop)));
      const notices = opened.flatMap((one) => {
        const notice = { payment_no: one.payment_no, amount: one.total, trade_no: nextTrade() };
        return [notice, notice, notice];
      });
      const shuffled = notices
        .map((notice, i) => ({ notice, at: (i * 37) % notices.length }))
        .sort((a, b) => a.at - b.at);
      const answers = await Promise.all(shuffled.map(({ notice }) => notify(shop, notice)));
      expect(answers.filter((answer) => answer.data?.status !== 'succeeded')).toEqual([]);
      for (const one of opened)
        expect(await moneyOf(shop, one.order_id)).toMatchObject({ status: 2, confirms: 1, refunds: [] });
    });

    test('counts after a notice of failure, because the money was received', async () => {
      const { payment_no, order_id, total, token } = await openPayment(shop);
      expect((await notify(shop, { payment_no, amount: total, status: 'failed', trade_no: '' })).data.status).toBe(
        'failed',
      );
      expect((await status(token, `payment_no=${payment_no}`)).data).toMatchObject({
        status: 'failed',
        order_status: 1,
      });
      const trade_no = nextTrade();
      expect((await notify(shop, { payment_no, amount: total, trade_no })).data.status).toBe('succeeded');
      // A later notice of failure changes nothing.
      expect((await notify(shop, { payment_no, amount: total, status: 'failed', trade_no: '' })).data.status).toBe(
        'succeeded',
      );
      expect(await moneyOf(shop, order_id)).toEqual(paidOnce(1290, trade_no));
    });

    test('can follow a failed payment: the shopper opens another one', async () => {
      const { payment_no, order_id, total, token } = await openPayment(shop);
      await notify(shop, { payment_no, amount: total, status: 'failed', trade_no: '' });
      const second = (await create(token, { order_id })).data.payment_no;
      expect(second).not.toBe(payment_no);
      const trade_no = nextTrade();
      await notify(shop, { payment_no: second, amount: total, trade_no });
      expect((await status(token, `order_id=${order_id}`)).data).toMatchObject({
        payment_no: second,
        status: 'succeeded',
      });
    });
  });

  describe('surplus money is recorded and refunded', () => {
    const expectBack = async (order_id: number, reason: string, orderStatus: number) => {
      const money = await moneyOf(shop, order_id);
      expect(money.status).toBe(orderStatus);
      expect(money.refunds).toEqual([{ status: 'pending', reason, amount: 1290 }]);
      expect(money.payments.filter((payment) => payment.status === 'refunding')).toHaveLength(1);
      expect(money.confirms).toBe(orderStatus === 2 ? 1 : 0);
    };

    test('for a cancelled order', async () => {
      const opened = await openPayment(shop);
      await cancel(opened);
      const jobs = await refundJobs();
      const notice = { payment_no: opened.payment_no, amount: opened.total, trade_no: nextTrade() };
      for (let n = 0; n < 3; n += 1) expect((await notify(shop, notice)).data.status).toBe('refunding');
      await expectBack(opened.order_id, 'order_cancelled', 6);
      expect(await refundJobs()).toBe(jobs + 1);
    });

    test('for an order that was paid instantly in between', async () => {
      const opened = await openPayment(shop);
      await payNow(opened);
      await notify(shop, { payment_no: opened.payment_no, amount: opened.total, trade_no: nextTrade() });
      await expectBack(opened.order_id, 'already_paid', 2);
    });

    test('for a second trade number on one payment, twenty times at once: one refund', async () => {
      const { payment_no, order_id, total } = await openPayment(shop);
      const [first, second] = [nextTrade(), nextTrade()];
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          notify(shop, { payment_no, amount: total, trade_no: i % 2 ? first : second }),
        ),
      );
      expect(answers.map((answer) => answer.data.status).filter((s) => s === 'succeeded')).toHaveLength(20);
      await expectBack(order_id, 'paid_twice', 2);
    });

    test('a trade number of another payment is refused and changes nothing', async () => {
      const [ann, bob] = [await openPayment(shop), await openPayment(shop)];
      const trade_no = nextTrade();
      await notify(shop, { payment_no: ann.payment_no, amount: ann.total, trade_no });
      expect(await notify(shop, { payment_no: bob.payment_no, amount: bob.total, trade_no })).toMatchObject({
        status: 200,
        code: 409,
      });
      // Both in one batch, and in concurrent batches.
      const shared = nextTrade();
      const [carl, dora] = [await openPayment(shop), await openPayment(shop)];
      const answers = await Promise.all(
        [carl, dora].flatMap((one) =>
          Array.from({ length: 5 }, () =>
            notify(shop, { payment_no: one.payment_no, amount: one.total, trade_no: shared }),
          ),
        ),
      );
      expect(answers.map((answer) => answer.code).sort()).toEqual([0, 0, 0, 0, 0, 409, 409, 409, 409, 409]);
      expect((await moneyOf(shop, bob.order_id)).status).toBe(1);
    });
  });

  describe('a notice is refused', () => {
    test.each([
      ['a cent less', { amount: 12.89 }],
      ['a cent more', { amount: 12.91 }],
      ['an amount of 0', { amount: 0 }],
      ['another currency', { currency: 'USD' }],
    ])('with %s: the order is not changed, the notice is recorded', async (_what, over) => {
      const { payment_no, order_id, total } = await openPayment(shop);
      const notice = { payment_no, amount: total, trade_no: nextTrade(), ...over };
      for (let n = 0; n < 2; n += 1) expect(await notify(shop, notice)).toMatchObject({ status: 200, code: 409 });
      expect(await moneyOf(shop, order_id)).toMatchObject({
        status: 1,
        payments: [{ status: 'pending' }],
        refunds: [],
      });
      const rows = await shop.database.sql`
      select outcome, seen from orders.payment_notices where payment_no = ${payment_no}`;
      expect(rows.map((row) => ({ ...row }))).toEqual([{ outcome: 'amount_mismatch', seen: 2 }]);
    });

    test('with fractions of cents; the field is named', async () => {
      const { payment_no, order_id } = await openPayment(shop);
      for (const amount of [12.901, 12.9000001, 1e-7])
        expect(await notify(shop, { payment_no, amount, trade_no: nextTrade() })).toMatchObject({
          code: 400,
          message: expect.stringContaining('amount'),
        });
      expect((await moneyOf(shop, order_id)).status).toBe(1);
    });

    test('for an unknown payment and for an instant payment', async () => {
      const bought = await buyOne(shop);
      const { data } = await create(bought.token, { order_id: bought.order_id, provider: 'instant' });
      for (const payment_no of ['PAY0000000000000', data.payment_no])
        expect(await notify(shop, { payment_no, amount: 12.9, trade_no: nextTrade() })).toMatchObject({
          status: 200,
          code: 404,
        });
      const [row] = await shop.database.sql`
      select outcome from orders.payment_notices where payment_no = 'PAY0000000000000'`;
      expect(row!.outcome).toBe('unknown_payment');
    });

    const refusedUnchanged = async (opened: OpenedPayment, send: () => ReturnType<typeof notify>, code: number) => {
      const before = await shop.database.sql`select count(*)::int as n from orders.payment_notices`;
      expect(await send()).toMatchObject({ status: 200, code });
      expect((await moneyOf(shop, opened.order_id)).status).toBe(1);
      expect(await shop.database.sql`select count(*)::int as n from orders.payment_notices`).toEqual(before);
    };
    const noticeOf = (opened: OpenedPayment) => ({
      payment_no: opened.payment_no,
      amount: opened.total,
      trade_no: nextTrade(),
    });

    test('with a timestamp more than five minutes in the past or in the future', async () => {
      const opened = await openPayment(shop);
      for (const offset of [-310, 310, -100_000, 1e9])
        await refusedUnchanged(
          opened,
          () => notify(shop, noticeOf(opened), { timestamp: String(unixNow() + offset) }),
          403,
        );
      for (const timestamp of ['', 'now', '-1', '1e9', ` ${unixNow()}`, `${unixNow()}.5`, '9'.repeat(400)])
        await refusedUnchanged(
          opened,
          () => notify(shop, noticeOf(opened), { timestamp: timestamp.trim() === timestamp ? timestamp : '0x1' }),
          403,
        );
      expect((await notify(shop, noticeOf(opened), { timestamp: String(unixNow() - 290) })).code).toBe(0);
    });

    test('with a signature that is wrong, missing, of another body or too short', async () => {
      const opened = await openPayment(shop);
      await refusedUnchanged(
        opened,
        () => notify(shop, noticeOf(opened), { secret: 'another-secret-of-16-characters' }),
        403,
      );
      await refusedUnchanged(opened, () => notify(shop, noticeOf(opened), { nonce: 'short' }), 403);
      const body = JSON.stringify({ provider: 'sandbox', currency: 'CNY', status: 'succeeded', ...noticeOf(opened) });
      const send = (headers: Record<string, string>, sent = body) =>
        shop.call('POST', '/api/pay/callback', {
          rawBody: sent,
          headers: { 'content-type': 'application/json', ...headers },
        });
      await refusedUnchanged(opened, () => send({}), 403);
      const { signedHeaders } = await import('../index.ts');
      const headers = signedHeaders(paySecret, { timestamp: String(unixNow()), nonce: newNonce(), body });
      const signature = headers['x-pay-signature']!;
      await refusedUnchanged(opened, () => send(headers, `${body} `), 403);
      await refusedUnchanged(opened, () => send({ ...headers, 'x-pay-signature': signature.slice(0, -1) }), 403);
      await refusedUnchanged(opened, () => send({ ...headers, 'x-pay-signature': `${signature}00` }), 403);
      await refusedUnchanged(opened, () => send({ ...headers, 'x-pay-nonce': newNonce() }), 403);
      await refusedUnchanged(
        opened,
        () => send({ ...headers, 'x-pay-timestamp': String(Number(headers['x-pay-timestamp']) - 1) }),
        403,
      );
      // Upper-case hex is the same signature.
      expect((await send({ ...headers, 'x-pay-signature': signature.toUpperCase() })).code).toBe(0);
    });

    test('with a nonce of another message; with the same message it is a repeat', async () => {
      const [one, other] = [await openPayment(shop), await openPayment(shop)];
      const nonce = newNonce();
      const first = noticeOf(one);
      expect((await notify(shop, first, { nonce })).code).toBe(0);
      expect((await notify(shop, first, { nonce })).code).toBe(0);
      await refusedUnchanged(other, () => notify(shop, noticeOf(other), { nonce }), 409);
      // At once, in one batch: the first message gets the nonce.
      const [carl, dora] = [await openPayment(shop), await openPayment(shop)];
      const shared = newNonce();
      const answers = await Promise.all([
        notify(shop, noticeOf(carl), { nonce: shared }),
        notify(shop, noticeOf(dora), { nonce: shared }),
      ]);
      expect(answers.map((answer) => answer.code).sort()).toEqual([0, 409]);
    });

    test('with a body that is truncated, very large or malformed, signed or not; never with HTTP 500', async () => {
      const opened = await openPayment(shop);
      const good = JSON.stringify({ provider: 'sandbox', currency: 'CNY', status: 'succeeded', ...noticeOf(opened) });
      const bodies: [string | Uint8Array, number][] = [
        [good.slice(0, -1), 400],
        [good.slice(0, 20), 400],
        ['', 200],
        ['null', 200],
        ['[]', 200],
        [`\ufeff${good}`, 400],
        [Buffer.from([0xff, 0xfe, 0x7b]), 400],
        [good.replace('"sandbox"', '"alipay"'), 200],
        [good.replace('"sandbox"', '"instant"'), 200],
        [good.replace('"succeeded"', '"SUCCESS"'), 200],
        [good.replace(/"trade_no":"[^"]*"/, '"trade_no":""'), 200],
        [good.replace('}', `,"x":"${'y'.repeat(20_000)}"}`), 413],
        [good.replace('}', `,"x":"${'y'.repeat(2_000_000)}"}`), 413],
      ];
      for (const [body, http] of bodies) {
        const answer = await notify(shop, { payment_no: '', amount: 0 }, { body });
        expect([answer.status, answer.code === 0], Buffer.from(body).toString().slice(0, 60)).toEqual([http, false]);
      }
      expect((await moneyOf(shop, opened.order_id)).status).toBe(1);
      // The signature is over bytes: white space that JSON ignores is signed too, and accepted.
      const spaced = ` ${good}\r\n`;
      expect((await notify(shop, { payment_no: '', amount: 0 }, { body: spaced })).code).toBe(0);
    });

    test('never for invalid UTF-8 alone: its bytes are signed as they are', async () => {
      const opened = await openPayment(shop);
      const text = JSON.stringify({
        provider: 'sandbox',
        currency: 'CNY',
        status: 'succeeded',
        note: '@',
        ...noticeOf(opened),
      });
      const body = Buffer.from(text, 'latin1');
      body[body.indexOf('@')] = 0xe9;
      expect((await notify(shop, { payment_no: '', amount: 0 }, { body })).code).toBe(0);
      expect((await moneyOf(shop, opened.order_id)).status).toBe(2);
    });
  });
});
