import type { Transaction } from '@tradepost/postgres';
import { enqueueJobs } from '@tradepost/runtime';
import { factsOf, orderRefunded, recordOrders } from '../order-events.ts';
import {
  insertOrderRefunds,
  type KnownRefund,
  lockOrders,
  lockPaidPayments,
  markRefundedPayments,
  type NewOrderRefund,
  type PaidPayment,
  selectKnownRefunds,
} from './order-refund-store.ts';
import { refundJob } from './refund-payments.ts';

/** A refund of a part of what was paid for an order. `amount` is in minor units. */
export type CaseRefund = {
  order_id: number;
  /** The idempotency key at the payment provider. */
  refund_no: string;
  amount: number;
  /** What the refund is for, such as `after_sale:17`. An order is refunded once per reason. */
  reason: string;
};
/** `exceeds_paid`: all refunds of the order would be more than was paid. `refund_no_taken`: another refund has the number. */
export type RefundOutcome = true | 'not_paid' | 'exceeds_paid' | 'refund_no_taken';

/** Decides the refunds one after the other, on locked orders and payments. `rows` are the refunds to write. */
function decideRefunds(
  refunds: readonly CaseRefund[],
  payments: readonly PaidPayment[],
  known: readonly KnownRefund[],
): { outcomes: RefundOutcome[]; rows: NewOrderRefund[] } {
  const paymentOf = new Map(payments.map((payment) => [payment.order_id, { ...payment, left: payment.amount }]));
  const byId = new Map([...paymentOf.values()].map((payment) => [payment.id, payment]));
  const existing = [...known];
  for (const { payment_id, amount } of known) {
    const payment = byId.get(payment_id);
    if (payment) payment.left -= amount;
  }
  const rows: NewOrderRefund[] = [];
  const outcomes = refunds.map(({ order_id, refund_no, amount, reason }): RefundOutcome => {
    if (!Number.isSafeInteger(amount) || amount <= 0) throw new Error(`${refund_no}: ${amount} cannot be refunded`);
    const payment = paymentOf.get(order_id);
    if (!payment) return 'not_paid';
    const earlier = existing.find((refund) => refund.payment_id === payment.id && refund.reason === reason);
    if (earlier?.refund_no === refund_no && earlier.amount === amount) return true;
    if (earlier) throw new Error(`order ${order_id} was refunded for ${reason} already, by ${earlier.refund_no}`);
    if (existing.some((refund) => refund.refund_no === refund_no)) return 'refund_no_taken';
    if (amount > payment.left) return 'exceeds_paid';
    payment.left -= amount;
    const { id: payment_id, provider, currency, is_instant } = payment;
    const status = is_instant ? 'succeeded' : 'pending';
    const row: NewOrderRefund = { refund_no, payment_id, order_id, provider, reason, amount, currency, status };
    existing.push(row);
    rows.push(row);
    return true;
  });
  return { outcomes, rows };
}

/**
 * Refunds parts of paid orders, on the caller's transaction: never more than was paid, over all refunds of an order. A payment
 * that moved no money is refunded at once. Others get a job that calls their provider after the commit; `attempts` is the largest
 * number of its attempts (setting pay.refund_attempts). Locks orders, then their payments, each in id order. Returns the outcome
 * of each refund; a repeat of the same refund changes nothing.
 */
export async function refundOrders(
  tx: Transaction,
  refunds: readonly CaseRefund[],
  { now, attempts }: { now: Date; attempts: number },
): Promise<RefundOutcome[]> {
  if (refunds.length === 0) return [];
  const orderIds = [...new Set(refunds.map((refund) => refund.order_id))];
  const orders = new Map((await lockOrders(tx, orderIds)).map((order) => [order.id, order]));
  const refundNos = refunds.map((refund) => refund.refund_no);
  const [payments, known] = await Promise.all([
    lockPaidPayments(tx, orderIds),
    selectKnownRefunds(tx, orderIds, refundNos),
  ]);
  const { outcomes, rows } = decideRefunds(refunds, payments, known);
  if (rows.length === 0) return outcomes;
  const written = new Set(await insertOrderRefunds(tx, rows, now));
  const done = rows.filter((row) => written.has(row.refund_no));
  const waiting = done.filter((row) => row.status === 'pending');
  const settled = done.filter((row) => row.status === 'succeeded');
  if (waiting.length > 0)
    await enqueueJobs(
      tx,
      waiting.map((row) => refundJob(row.refund_no, attempts)),
    );
  if (settled.length > 0) {
    const facts = settled.map(({ order_id, refund_no, amount }) => ({
      ...factsOf(orders.get(order_id)!),
      ...{ refund_no, amount },
    }));
    await Promise.all([
      markRefundedPayments(
        tx,
        settled.map((row) => row.payment_id),
        now,
      ),
      ...recordOrders(tx, orderRefunded, facts, now),
    ]);
  }
  // A concurrent transaction has taken the numbers of rows that were not written.
  const lost = new Set(rows.filter((row) => !written.has(row.refund_no)).map((row) => row.refund_no));
  return refunds.map((refund, index) =>
    outcomes[index] === true && lost.has(refund.refund_no) ? 'refund_no_taken' : outcomes[index]!,
  );
}
