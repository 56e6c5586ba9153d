import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLog } from '@tradepost/runtime';
import { auditViolations } from '@tradepost/testing/audit-violations';
import {
  buyOne,
  moneyFaults,
  moneyOf,
  notify,
  type OpenedPayment,
  openPayment,
  paySecret,
} from '@tradepost/testing/servers/payment-gateway';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { retryRefund, selectRefunds } from '../index.ts';

/** Under concurrency an order has one outcome, and surplus money is refunded exactly once. */
let shop: Shop;
/** The refund endpoint of a payment gateway, with a ledger by refund number. */
let gateway: Server;
let refundUrl: string;
type RefundCall = { refund_no: string; amount: number; currency: string; trade_no: string; payment_no: string };
const ledger = new Map<string, number>();
let refundCalls: RefundCall[] = [];
let answer: (call: RefundCall, request: IncomingMessage, response: ServerResponse) => void;
const settle = ({ refund_no }: RefundCall, _request: IncomingMessage, response: ServerResponse) =>
  void response.end(JSON.stringify({ refund_no, status: 'succeeded', refund_id: `R-${refund_no}` }));

beforeAll(async () => {
  gateway = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const { 'x-pay-timestamp': timestamp, 'x-pay-nonce': nonce, 'x-pay-signature': signature } = request.headers;
      const right = createHmac('sha256', paySecret).update(`${timestamp}\n${nonce}\n`).update(body).digest('hex');
      if (signature !== right) return response.writeHead(403).end();
      const refund = JSON.parse(body.toString()) as RefundCall;
      refundCalls.push(refund);
      ledger.set(refund.refund_no, refund.amount);
      answer(refund, request, response);
    });
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  refundUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/refunds`;
  shop = await openShop({ only: 'api,worker' });
  await shop.server.runtime.settings.set('pay.sandbox.secret', paySecret);
});
beforeEach(async () => {
  refundCalls = [];
  ledger.clear();
  answer = settle;
  await shop.server.runtime.settings.set('pay.sandbox.refund_url', refundUrl);
  await shop.server.runtime.settings.unset('pay.refund_attempts');
});
afterAll(async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
  expect(await moneyFaults(shop)).toEqual([]);
  // Closes calls without an answer.
  gateway.closeAllConnections();
  await shop.close();
  await new Promise((resolve) => gateway.close(resolve));
});

const post = (one: OpenedPayment, verb: string) =>
  shop.call('POST', `/api/v1/orders/${one.order_id}/${verb}`, { token: one.token });
let trade = 0;
const pay = (one: OpenedPayment, trade_no = `R${++trade}`) =>
  notify(shop, { payment_no: one.payment_no, amount: one.total, trade_no });
const refundsOf = (id: number) =>
  shop.database.sql<
    { status: string; attempts: number; provider_ref: string; last_error: string; refund_no: string }[]
  >`
    select refund_no, status, attempts, provider_ref, last_error from orders.refunds where order_id = ${id}`;
const refundStatus = async (id: number) => (await refundsOf(id)).map((row) => row.status);
/** Makes retries due now. Graphile would wait longer after each attempt. */
const hurry = () => shop.database.sql`
  update graphile_worker._private_jobs set run_at = now() where key like 'payments.refund:%' and locked_at is null`;
const taskContext = { log: openLog({ level: 'silent' }), signal: new AbortController().signal };
const hurried = async (one: OpenedPayment) => {
  await hurry();
  return refundStatus(one.order_id);
};
/** Calls the task handler directly, as a second worker would. */
async function runRefund(refund_no: string) {
  const { refundPayment } = await import('./refund-payments.ts');
  const { openProviders } = await import('./providers/open-providers.ts');
  const { ownProviders } = await import('./providers/own-providers.ts');
  const { runtime } = shop.server;
  return refundPayment({ runtime, providers: openProviders(runtime, ownProviders) }, { refund_no }, taskContext);
}
async function surplus(): Promise<OpenedPayment> {
  const one = await openPayment(shop);
  await post(one, 'cancel');
  expect((await pay(one)).data.status).toBe('refunding');
  return one;
}

describe('at once', () => {
  test('notice, instant payment, cancel and expiry of one order, thirty times: one outcome, surplus money is refunded', async () => {
    const crowd = await Promise.all(Array.from({ length: 30 }, () => openPayment(shop)));
    const ids = crowd.map((one) => one.order_id);
    // Only a third is swept: a sweep cancels all expired orders at once, so the other actions would never be first.
    const late = ids.filter((_, index) => index % 3 === 2);
    await shop.database
      .sql`update orders.orders set expires_at = now() - interval '1 minute' where id = any(${late}::bigint[])`;
    const acts = [
      (one: OpenedPayment) => pay(one, `RACE-${one.order_id}`),
      (one: OpenedPayment) => post(one, 'pay'),
      (one: OpenedPayment) => post(one, 'cancel'),
      () => shop.database.sql`select graphile_worker.add_job('orders.expire', '{}')`,
      (one: OpenedPayment) => pay(one, `RACE-${one.order_id}`),
    ];
    // A third is paid by notice first, a third instantly, so that each action is sometimes first, also on a busy machine.
    await Promise.all(
      crowd.map(async (one, i) => {
        if (i % 3 < 2) await acts[i % 3]!(one);
        await Promise.all(acts.map((act) => act(one)));
      }),
    );
    await expect
      .poll(async () => (await Promise.all(ids.map(refundStatus))).flat().filter((s) => s === 'pending').length, {
        timeout: 15_000,
      })
      .toBe(0);
    const outcomes: Record<string, number> = {};
    for (const one of crowd) {
      const { status, payments, refunds, confirms } = await moneyOf(shop, one.order_id);
      const succeeded = payments.filter((payment) => payment.status === 'succeeded');
      const back = payments.filter((payment) => payment.status === 'refunded');
      expect([2, 6]).toContain(status);
      expect([succeeded.length, confirms]).toEqual(status === 2 ? [1, 1] : [0, 0]);
      // The money of the notice paid the order, or it was refunded.
      const byNotice = succeeded.some((payment) => payment.trade_no !== null);
      expect([back.length, refunds.length]).toEqual(byNotice ? [0, 0] : [1, 1]);
      const outcome = status === 6 ? 'cancelled' : byNotice ? 'by notice' : 'at once';
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
    expect(Object.keys(outcomes).length, JSON.stringify(outcomes)).toBeGreaterThan(1);
    expect(refundCalls.length).toBe(ledger.size);
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });

  test('payments that are opened while the order is cancelled or paid do not stay payable', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { token, order_id } = await buyOne(shop);
      const open = () => shop.call('POST', '/api/pay/create', { token, body: { order_id } });
      const end = shop.call('POST', `/api/v1/orders/${order_id}/${round % 2 ? 'pay' : 'cancel'}`, { token });
      const answers = await Promise.all([open(), end, open(), open()]);
      for (const opened of answers) expect([0, 500]).toContain(opened.code);
      expect((await open()).code).toBe(500);
    }
    await shop.database.sql`select graphile_worker.add_job('payments.sweep', '{}')`;
    const left = async () =>
      (
        await shop.database.sql`
        select count(*)::int as n from orders.payments p join orders.orders o on o.id = p.order_id
        where p.status = 'pending' and o.status <> 1`
      )[0]!.n;
    await expect.poll(left, { timeout: 10_000 }).toBe(0);
  });
});

describe('a refund', () => {
  test('calls the gateway once with a signature, refunds the exact amount, and is shown to the shopper', async () => {
    const one = await surplus();
    await expect.poll(() => refundStatus(one.order_id), { timeout: 10_000 }).toEqual(['succeeded']);
    expect(refundCalls).toHaveLength(1);
    const [row] = await refundsOf(one.order_id);
    expect(refundCalls[0]).toMatchObject({
      refund_no: row!.refund_no,
      payment_no: one.payment_no,
      amount: 12.9,
      currency: 'CNY',
    });
    expect(row!.provider_ref).toBe(`R-${row!.refund_no}`);
    const { data } = await shop.call('GET', `/api/pay/status?payment_no=${one.payment_no}`, { token: one.token });
    expect(data).toMatchObject({ status: 'refunded', order_status: 6 });
    expect(data.refunded_at).not.toBeNull();
    // A repeated notice still succeeds and changes nothing.
    expect(
      (await notify(shop, { payment_no: one.payment_no, amount: one.total, trade_no: `R${trade}` })).data.status,
    ).toBe('refunded');
    expect((await refundsOf(one.order_id)).length).toBe(1);
  });

  test('after a crash between the call and its record, the call is repeated with the same number; the money is refunded once', async () => {
    let calls = 0;
    // The gateway has refunded, and its answer is lost.
    answer = (refund, request, response) =>
      ++calls < 3 ? request.socket.destroy() : settle(refund, request, response);
    const one = await surplus();
    await expect.poll(() => hurried(one), { timeout: 15_000, interval: 200 }).toEqual(['succeeded']);
    expect(refundCalls.length).toBe(3);
    expect([...ledger.values()]).toEqual([12.9]);
    expect((await refundsOf(one.order_id))[0]!.attempts).toBe(3);
  });

  test('when the record fails after the call, the next run records it', async () => {
    answer = () => {};
    const one = await surplus();
    await expect.poll(() => refundCalls.length, { timeout: 10_000 }).toBe(1);
    // During the call another transaction locks the payment longer than the statement timeout.
    let release = () => {};
    const held = shop.database.sql.begin(async (tx) => {
      await tx`select id from orders.payments where order_id = ${one.order_id} for update`;
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    });
    await sleep(50);
    answer = settle;
    const [row] = await refundsOf(one.order_id);
    await expect(runRefund(row!.refund_no)).rejects.toThrow();
    expect(await refundStatus(one.order_id)).toEqual(['pending']);
    release();
    await held;
    await runRefund(row!.refund_no);
    await runRefund(row!.refund_no);
    expect(await refundStatus(one.order_id)).toEqual(['succeeded']);
    expect([...ledger.keys()]).toEqual([row!.refund_no]);
    expect((await moneyOf(shop, one.order_id)).payments.map((payment) => payment.status)).toEqual(['refunded']);
  });

  test('two workers at once refund once', async () => {
    answer = (refund, request, response) => void setTimeout(() => settle(refund, request, response), 200);
    const one = await surplus();
    const [row] = await refundsOf(one.order_id);
    await Promise.all([runRefund(row!.refund_no), runRefund(row!.refund_no)]);
    await expect.poll(() => refundStatus(one.order_id), { timeout: 10_000 }).toEqual(['succeeded']);
    expect(ledger.size).toBe(1);
  });

  test.each([
    [
      'a no',
      (refund: RefundCall, _: unknown, response: ServerResponse) =>
        response.end(JSON.stringify({ refund_no: refund.refund_no, status: 'failed', message: 'account closed' })),
      'account closed',
    ],
    [
      'faults until the attempts are used up',
      (_: RefundCall, __: unknown, response: ServerResponse) => response.writeHead(500).end('oops'),
      'HTTP 500',
    ],
    [
      'another refund',
      (_: RefundCall, __: unknown, response: ServerResponse) =>
        response.end('{"refund_no":"RF0","status":"succeeded"}'),
      'another refund',
    ],
    [
      'invalid JSON',
      (_: RefundCall, __: unknown, response: ServerResponse) => response.end('<html>'),
      'did not answer',
    ],
  ])('answered with %s is failed, is listed, and can be retried', async (_what, wrongAnswer, reason) => {
    await shop.server.runtime.settings.set('pay.refund_attempts', 2);
    answer = wrongAnswer as typeof answer;
    const one = await surplus();
    await expect.poll(() => hurried(one), { timeout: 15_000, interval: 200 }).toEqual(['failed']);
    const [row] = await refundsOf(one.order_id);
    expect(row!.last_error).toContain(reason);
    const open = await selectRefunds(shop.database.sql, { all: false, limit: 10 });
    expect(open.map((refund) => refund.refund_no)).toContain(row!.refund_no);
    // The money is still owed.
    expect((await moneyOf(shop, one.order_id)).payments.map((payment) => payment.status)).toEqual(['refunding']);
    answer = settle;
    await retryRefund(shop.server.runtime, row!.refund_no);
    await expect.poll(() => refundStatus(one.order_id), { timeout: 10_000 }).toEqual(['succeeded']);
    await expect(retryRefund(shop.server.runtime, row!.refund_no)).rejects.toThrow('Refund not found');
  });

  test('without a job is found by the sweep', async () => {
    answer = () => {};
    const one = await surplus();
    const { sql } = shop.database;
    await expect.poll(() => refundCalls.length, { timeout: 10_000 }).toBe(1);
    await sql`delete from graphile_worker._private_jobs where key like 'payments.refund:%'`;
    answer = settle;
    const sweep = () => sql`select graphile_worker.add_job('payments.sweep', '{}')`;
    await sweep();
    await sleep(1_000);
    expect(await refundStatus(one.order_id), 'a recent refund is left to its job').toEqual(['pending']);
    await sql`update orders.refunds set updated_at = now() - interval '10 minutes' where order_id = ${one.order_id}`;
    await sweep();
    await expect.poll(() => refundStatus(one.order_id), { timeout: 10_000 }).toEqual(['succeeded']);
  });

  test('succeeds in the sandbox without a refund endpoint', async () => {
    await shop.server.runtime.settings.set('pay.sandbox.refund_url', '');
    const one = await surplus();
    await expect.poll(() => refundStatus(one.order_id), { timeout: 10_000 }).toEqual(['succeeded']);
    expect(refundCalls).toEqual([]);
  });
});

test('payments are found by payment number, trade number and order through an index', async () => {
  const plans = await shop.database.sql.begin(async (tx) => {
    await tx`set local enable_seqscan = off`;
    const planOf = async (where: string) =>
      JSON.stringify(await tx.unsafe(`explain select * from orders.payments p where ${where}`));
    return [
      await planOf(`p.payment_no = 'PAY1'`),
      await planOf(`p.provider = 'sandbox' and p.trade_no = 'T'`),
      await planOf('p.order_id = 1'),
      JSON.stringify(
        await tx.unsafe(`explain select * from orders.refunds where status = 'pending' order by updated_at`),
      ),
    ];
  });
  for (const [i, index] of [
    'payments_by_number',
    'payments_by_trade',
    'payments_of_order',
    'refunds_unsettled',
  ].entries())
    expect(plans[i]).toContain(index);
});
