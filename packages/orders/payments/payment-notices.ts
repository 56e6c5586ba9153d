import type { Inventory } from '@tradepost/inventory';
import { type Statement, type Transaction, writeTransaction } from '@tradepost/postgres';
import { enqueueJobs, type Runtime } from '@tradepost/runtime';
import { orderErrors } from '../errors.ts';
import { isPayable, orderStatus } from '../orders/order.ts';
import { markPaid } from '../orders/order-store.ts';
import { refundAttempts } from '../settings.ts';
import { type NoticeOutcome, recordNotices, rememberNonces } from './payment-notice-store.ts';
import { type Payment, paymentNumber, type RefundReason, refundNumber } from './payment-rules.ts';
import {
  insertPayments,
  lockOrdersOfPayments,
  movePayments,
  type NewPayment,
  type PayableOrder,
  type PaymentMove,
  selectPaymentsOf,
} from './payment-store.ts';
import type { TakenNotice } from './providers/provider.ts';
import { refundJob } from './refund-payments.ts';
import { insertRefunds, type NewRefund } from './refund-store.ts';

/** What a provider tells about a payment; its signature has been checked. `digest`: hex SHA-256 of the body. */
export type PaymentNotice = {
  provider: string;
  payment_no: string;
  trade_no: string;
  amount: number;
  currency: string;
  status: 'succeeded' | 'failed';
  paid_at: Date | null;
  nonce: string;
  digest: string;
};

type Deps = { runtime: Pick<Runtime, 'sql' | 'now' | 'settings' | 'log'>; inventory: Inventory };
type Decision = { outcome: NoticeOutcome; payment?: Payment; answer: TakenNotice | Error };

const tradeKey = (of: { provider: string; trade_no: string | null }) => `${of.provider} ${of.trade_no}`;

/**
 * Why the money of this payment cannot settle its order; null when it does. The time of arrival counts, not the provider's
 * `paid_at`: the outcome must not depend on whether the sweep came first.
 */
function surplusReason(order: PayableOrder, payment: Payment, now: Date): RefundReason | null {
  if (order.status === orderStatus.cancelled) return 'order_cancelled';
  if (order.status !== orderStatus.pendingPayment) return 'already_paid';
  if (!isPayable(order, now)) return 'order_expired';
  return order.total_amount === payment.amount ? null : 'amount_changed';
}

/** Decides notices one after the other against locked orders, and gathers what is to be written. */
function openDecisions(orders: readonly PayableOrder[], payments: readonly Payment[], now: Date) {
  const orderOf = new Map(orders.map((order) => [order.id, { ...order }]));
  const byNumber = new Map(payments.map((payment) => [payment.payment_no, { ...payment }]));
  const byTrade = new Map([...byNumber.values()].filter((p) => p.trade_no).map((p) => [tradeKey(p), p]));
  const settled: PayableOrder[] = [];
  const moves = new Map<number, PaymentMove>();
  const surplus: NewPayment[] = [];
  const refunds: NewRefund[] = [];

  const refundSurplus = (payment: Payment, reason: RefundReason) => {
    const { payment_no, order_id, provider, amount, currency } = payment;
    refunds.push({ refund_no: refundNumber(now), payment_no, order_id, provider, reason, amount, currency });
  };
  const told = (payment: Payment): TakenNotice => ({ payment_no: payment.payment_no, status: payment.status });

  /** Money under a number that has its money already: a payment of its own, on its way back. */
  const secondMoney = (payment: Payment, notice: PaymentNotice, paid_at: Date): Decision => {
    const { order_id, provider, amount, currency } = payment;
    const row: NewPayment = {
      ...{ order_id, provider, amount, currency, method: orderOf.get(order_id)!.payment_method },
      ...{ payment_no: paymentNumber(now), trade_no: notice.trade_no, origin_id: payment.id },
      ...{ status: 'refunding', return_url: '', paid_at, created_at: now },
    };
    surplus.push(row);
    const added = { ...row, id: 0 };
    byTrade.set(tradeKey(notice), added);
    refundSurplus(added, 'paid_twice');
    return { outcome: 'surplus', payment, answer: { payment_no: payment.payment_no, status: 'refunding' } };
  };

  const succeeded = (payment: Payment, notice: PaymentNotice): Decision => {
    const known = byTrade.get(tradeKey(notice));
    if (known && known !== payment && known.origin_id !== payment.id)
      return { outcome: 'trade_conflict', payment, answer: orderErrors.trade_conflict() };
    if (known) return { outcome: 'repeated', payment, answer: { ...told(payment), status: known.status } };
    // Clocks differ; nothing is paid in the future or before it was asked for.
    const told_at = notice.paid_at ?? now;
    const paid_at = told_at < now && told_at >= payment.created_at ? told_at : now;
    if (payment.paid_at) return secondMoney(payment, notice, paid_at);
    const order = orderOf.get(payment.order_id)!;
    const reason = surplusReason(order, payment, now);
    Object.assign(payment, { trade_no: notice.trade_no, paid_at, status: reason ? 'refunding' : 'succeeded' });
    byTrade.set(tradeKey(notice), payment);
    moves.set(payment.id, { id: payment.id, to: payment.status, trade_no: notice.trade_no, paid_at });
    if (!reason) {
      settled.push(order);
      order.status = orderStatus.paid;
      return { outcome: 'paid', payment, answer: told(payment) };
    }
    refundSurplus(payment, reason);
    return { outcome: 'surplus', payment, answer: told(payment) };
  };

  const decide = (notice: PaymentNotice): Decision => {
    const payment = byNumber.get(notice.payment_no);
    if (!payment || payment.provider !== notice.provider)
      return { outcome: 'unknown_payment', answer: orderErrors.payment_not_found() };
    if (payment.amount !== notice.amount || payment.currency !== notice.currency)
      return { outcome: 'amount_mismatch', payment, answer: orderErrors.amount_mismatch() };
    if (notice.status === 'succeeded') return succeeded(payment, notice);
    // A late "failed" about money that has come in, or a second one, changes nothing.
    if (payment.status !== 'pending') return { outcome: 'repeated', payment, answer: told(payment) };
    payment.status = 'failed';
    moves.set(payment.id, { id: payment.id, to: 'failed', trade_no: null, paid_at: null });
    return { outcome: 'failed', payment, answer: told(payment) };
  };

  return { decide, settled, moves, surplus, refunds };
}

/** One row per distinct message of this batch: a repeat in the same batch only counts. */
function noticeRows(notices: readonly PaymentNotice[], decisions: readonly Decision[]) {
  const rows = new Map<string, Parameters<typeof recordNotices>[1][number]>();
  for (const [index, notice] of notices.entries()) {
    const { outcome, payment } = decisions[index]!;
    const key = `${notice.provider} ${notice.digest}`;
    const row = rows.get(key);
    if (row) {
      row.seen += 1;
      if (outcome !== 'repeated') row.outcome = outcome;
      continue;
    }
    const { provider, digest, payment_no, trade_no, amount, currency, status } = notice;
    const of = { payment_id: payment?.id ?? null, order_id: payment?.order_id ?? null };
    rows.set(key, { provider, digest, payment_no, trade_no, amount, currency, status, outcome, ...of, seen: 1 });
  }
  return [...rows.values()];
}

/** Notices whose nonce is theirs: used for the first time, or for this very message before. */
async function withOwnNonce(
  tx: Transaction,
  notices: readonly PaymentNotice[],
  now: Date,
): Promise<Set<PaymentNotice>> {
  const uses = new Map<string, PaymentNotice>();
  const keyOf = (use: { provider: string; nonce: string }) => `${use.provider} ${use.nonce}`;
  for (const notice of notices) if (!uses.has(keyOf(notice))) uses.set(keyOf(notice), notice);
  const firsts = new Map((await rememberNonces(tx, [...uses.values()], now)).map((use) => [keyOf(use), use.digest]));
  return new Set(notices.filter((notice) => firsts.get(keyOf(notice)) === notice.digest));
}

type Refused = { notice: PaymentNotice; outcome: NoticeOutcome };
type Taken = { answers: (TakenNotice | Error)[]; refused: Refused[] };

function writeNotices({ runtime, inventory }: Deps, notices: readonly PaymentNotice[]): Promise<Taken> {
  const now = runtime.now();
  return writeTransaction(runtime.sql, async (tx) => {
    const own = await withOwnNonce(tx, notices, now);
    const taken = notices.filter((notice) => own.has(notice));
    const orders = taken.length > 0 ? await lockOrdersOfPayments(tx, taken) : [];
    const ids = orders.map((order) => order.id);
    const books = openDecisions(orders, ids.length > 0 ? await selectPaymentsOf(tx, ids) : [], now);
    const decisions = taken.map(books.decide);
    const { settled, moves, surplus, refunds } = books;
    const last: Statement[] = [];
    if (settled.length > 0) {
      const requests = settled.map((order) => ({ order_id: order.id, user_id: order.user_id }));
      const values = { inventoryStatus: inventory.statusAfter.confirm, instant: null, now };
      const moved = await markPaid(tx, requests, values);
      if (moved.length !== settled.length) throw new Error('an order has moved under our lock');
      last.push(
        ...(await inventory.confirm(
          tx,
          moved.map((order) => order.order_no),
        )),
      );
    }
    if (moves.size > 0) last.push(movePayments(tx, [...moves.values()], now));
    if (surplus.length > 0) last.push(insertPayments(tx, surplus));
    if (refunds.length > 0) {
      last.push(insertRefunds(tx, refunds, now));
      const attempts = runtime.settings.get(refundAttempts);
      last.push(
        enqueueJobs(
          tx,
          refunds.map((refund) => refundJob(refund.refund_no, attempts)),
        ),
      );
    }
    if (taken.length > 0) last.push(recordNotices(tx, noticeRows(taken, decisions), now));
    const byNotice = new Map(taken.map((notice, index) => [notice, decisions[index]!]));
    const refused = Array.from(byNotice, ([notice, { outcome, answer }]) => ({ notice, outcome, answer }));
    return {
      value: {
        answers: notices.map((notice) => byNotice.get(notice)?.answer ?? orderErrors.nonce_reused()),
        refused: refused.filter(({ answer }) => answer instanceof Error),
      },
      last,
    };
  });
}

/** Two transactions have taken one trade number for payments of different orders: the later one has to look again. */
const isSharedTrade = (error: unknown) =>
  error instanceof Error && 'constraint_name' in error && error.constraint_name === 'payments_by_trade';

/**
 * Takes what providers tell, each message as often as it comes: money for an open order settles it (1 -> 2, stock confirmed),
 * money that no order needs is recorded and sent back, the rest is refused and kept for an operator.
 */
export async function takeNotices(deps: Deps, notices: readonly PaymentNotice[]): Promise<(TakenNotice | Error)[]> {
  const { runtime } = deps;
  const { answers, refused } = await writeNotices(deps, notices).catch((error: unknown) => {
    if (isSharedTrade(error)) return writeNotices(deps, notices);
    throw error;
  });
  for (const { notice, outcome } of refused) {
    const { provider, payment_no, trade_no, amount, currency } = notice;
    runtime.log.warn({ provider, payment_no, trade_no, amount, currency, outcome }, 'a payment notice was refused');
  }
  return answers;
}
