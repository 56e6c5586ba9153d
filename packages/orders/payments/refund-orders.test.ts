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
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CaseRefund, refundOrders, retryRefund, selectRefundable, selectRefunds } from '../index.ts';
import { openProviders } from './providers/open-providers.ts';
import { ownProviders } from './providers/own-providers.ts';
import { refundPayment } from './refund-payments.ts';

/** After-sales refund parts of a paid order: never more than was paid, and each refund once. */
let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
  await shop.server.runtime.settings.set('pay.sandbox.secret', paySecret);
});
afterAll(async () => {
  // The refunds of these tests belong to no case, so only the audits of this package count.
  const violations = await auditViolations(shop.database.sql);
  expect(violations.filter((text) => text.startsWith('orders.'))).toEqual([]);
  expect(await moneyFaults(shop)).toEqual([]);
  await shop.close();
});

let numbers = 0;
const refundNo = () => `RF-TEST-${++numbers}`;
const refund = (...refunds: CaseRefund[]) =>
  shop.server.runtime.sql.begin((tx) => refundOrders(tx, refunds, { now: new Date(), attempts: 3 }));
const of = (order_id: number, amount: number, reason: string, refund_no = refundNo()) => ({
  ...{ order_id, amount, reason, refund_no },
});
/** An order of 12.90 that was paid without money. */
async function paidAtOnce() {
  const one = await buyOne(shop);
  await shop.call('POST', `/api/v1/orders/${one.order_id}/pay`, { token: one.token });
  return one;
}
/** An order of 12.90 that was paid at the payment gateway. */
async function paidAtGateway() {
  const one = await openPayment(shop);
  await notify(shop, { payment_no: one.payment_no, amount: one.total, trade_no: `T-${one.order_id}` });
  return one;
}
const statusOf = async (token: string, order_id: number) =>
  (await shop.call('GET', `/api/pay/status?order_id=${order_id}`, { token })).data;
/** Runs the job of a refund, as a worker does. */
const runJob = (refund_no: string) => {
  const { runtime } = shop.server;
  const task = { log: openLog({ level: 'silent' }), signal: AbortSignal.timeout(5_000) };
  return refundPayment({ runtime, providers: openProviders(runtime, ownProviders) }, { refund_no }, task);
};

test('a payment without money is refunded at once: in parts it stays paid, in full it is refunded', async () => {
  const { order_id, token } = await paidAtOnce();
  const none = await buyOne(shop);
  expect(await refund(of(order_id, 1000, 'part:1'), of(none.order_id, 1, 'part:2'))).toEqual([true, 'not_paid']);
  expect(await statusOf(token, order_id)).toMatchObject({ status: 'succeeded', refunded_at: null });
  const refundable = await selectRefundable(shop.database.sql, [order_id, none.order_id]);
  expect(Object.fromEntries(refundable)).toEqual({
    [order_id]: { paid: 1290, refunded: 1000 },
    [none.order_id]: { paid: 0, refunded: 0 },
  });
  expect(await refund(of(order_id, 291, 'part:3'))).toEqual(['exceeds_paid']);
  expect(await refund(of(order_id, 290, 'part:3'))).toEqual([true]);
  const paid = await statusOf(token, order_id);
  expect(paid.status).toBe('refunded');
  expect(paid.refunded_at).not.toBeNull();
  // The payment is refunded, and the order still counts as paid by it.
  expect(await refund(of(order_id, 1, 'part:4'))).toEqual(['exceeds_paid']);
  expect(await moneyOf(shop, order_id)).toMatchObject({ status: 2, confirms: 1 });
});

test('money of a gateway is sent back by the job of the refund, whose failure an operator sees and repeats', async () => {
  const { order_id, token } = await paidAtGateway();
  const [first, second] = [of(order_id, 290, 'part:10'), of(order_id, 1000, 'part:11')];
  expect(await refund(first, second)).toEqual([true, true]);
  const jobs = await shop.database.sql`
    select key, max_attempts from graphile_worker.jobs where key like 'payments.refund:RF-TEST-%' order by key`;
  expect(jobs.map((job) => [job.key, job.max_attempts])).toEqual(
    [first, second].map(({ refund_no }) => [`payments.refund:${refund_no}`, 3]),
  );
  await runJob(first.refund_no);
  expect((await statusOf(token, order_id)).status).toBe('succeeded');
  const { settings } = shop.server.runtime;
  await settings.set('pay.sandbox.refund_url', 'http://127.0.0.1:1/refunds');
  await settings.set('pay.refund_attempts', 1);
  await runJob(second.refund_no);
  await settings.unset('pay.sandbox.refund_url');
  await settings.unset('pay.refund_attempts');
  const open = await selectRefunds(shop.database.sql, { all: false, limit: 10 });
  expect(open).toMatchObject([{ refund_no: second.refund_no, status: 'failed', amount: 1000, reason: 'part:11' }]);
  // The money of a failed refund is owed, so it cannot be refunded a second time.
  expect(await refund(of(order_id, 1, 'part:12'))).toEqual(['exceeds_paid']);
  await retryRefund(shop.server.runtime, second.refund_no);
  await runJob(second.refund_no);
  await runJob(second.refund_no);
  expect(await moneyOf(shop, order_id)).toMatchObject({ payments: [{ status: 'refunded' }], status: 2 });
});

test('two refunds of one payment that end at once leave it refunded', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { order_id } = await paidAtGateway();
    const parts = [of(order_id, 645, 'part:1'), of(order_id, 645, 'part:2')];
    expect(await refund(...parts)).toEqual([true, true]);
    await Promise.all(parts.map((part) => runJob(part.refund_no)));
    expect((await moneyOf(shop, order_id)).payments).toMatchObject([{ status: 'refunded' }]);
  }
});

test('a number of another refund is refused, also when both are written at once; the same refund again changes nothing', async () => {
  const [one, two] = [await paidAtOnce(), await paidAtOnce()];
  const taken = of(one.order_id, 100, 'part:1');
  expect(await refund(taken, of(one.order_id, 5, 'part:2', taken.refund_no))).toEqual([true, 'refund_no_taken']);
  expect(await refund(taken)).toEqual([true]);
  expect(await refund(of(two.order_id, 100, 'part:3', taken.refund_no))).toEqual(['refund_no_taken']);
  const shared = refundNo();
  const outcomes = await Promise.all([
    refund(of(one.order_id, 100, 'part:4', shared)),
    refund(of(two.order_id, 100, 'part:5', shared)),
  ]);
  expect(outcomes.flat().sort()).toEqual(['refund_no_taken', true]);
  await expect(refund(of(one.order_id, 7, 'part:1'))).rejects.toThrow('already');
  await expect(refund(of(one.order_id, 0, 'part:6'))).rejects.toThrow('cannot be refunded');
  await expect(refund(of(one.order_id, 0.5, 'part:6'))).rejects.toThrow('cannot be refunded');
});

test('fifty refunds of one order at once: as many as were paid for', async () => {
  for (const paid of [paidAtOnce, paidAtGateway]) {
    const { order_id } = await paid();
    const outcomes = await Promise.all(Array.from({ length: 50 }, (_, n) => refund(of(order_id, 500, `part:${n}`))));
    expect(outcomes.flat().filter((outcome) => outcome === true)).toHaveLength(2);
    expect(outcomes.flat().filter((outcome) => outcome === 'exceeds_paid')).toHaveLength(48);
    const { refunds } = await moneyOf(shop, order_id);
    expect(refunds.reduce((sum, row) => sum + row.amount, 0)).toBe(1000);
  }
  await shop.database.sql`update orders.refunds set status = 'succeeded', finished_at = now() where status = 'pending'`;
});
