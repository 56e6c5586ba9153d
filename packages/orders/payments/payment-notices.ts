import type { Inventory } from '@tradepost/inventory';
import { type Statement, type Transaction, writeTransaction } from '@tradepost/postgres';
import { enqueueJobs, type Runtime } from '@tradepost/runtime';
import { orderErrors } from '../errors.ts';
import { factsOf, orderPaid, recordOrders } from '../order-events.ts';
import { isPayable, orderStatus } from '../orders/order-status.ts';
import { markPaid } from '../orders/order-store.ts';
import { refundAttempts } from '../settings.ts';
import { type NoticeOutcome, recordNotices, rememberNonces } from './payment-notice-store.ts';
import { type Money, type NewMoney, paymentNumber, type RefundReason, refundNumber } from './payment-rules.ts';
import {
  insertPayments,
  lockOrdersOfPayments,
  movePayments,
  type PayableOrder,
  type PaymentMove,
  selectPaymentsOf,
} from './payment-store.ts';
import { methodAt, type PaymentProviders } from './providers/open-providers.ts';
import type { NoticeAnswer } from './providers/provider.ts';
import { refundJob } from './refund-payments.ts';
import { insertRefunds, type NewRefund } from './refund-store.ts';
import { isOfSubject, type LockedSubjects, lockSubjects } from './subjects/lock-subjects.ts';
import type { PaymentSubject } from './subjects/payment-subject.ts';
import { insertSubjectPayments } from './subjects/subject-store.ts';

/** A notice of a provider about a payment. Its signature was verified. `digest` is the hex SHA-256 of the body. */
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

type Deps = {
  runtime: Pick<Runtime, 'sql' | 'now' | 'settings' | 'log'>;
  inventory: Inventory;
  providers: PaymentProviders;
  subjects: readonly PaymentSubject[];
};
type Decision = { outcome: NoticeOutcome; payment?: Money; answer: NoticeAnswer | Error };

/** What a payment pays: a locked order, or a locked subject of another package. */
type Target = { method: string; surplusReason(payment: Money): RefundReason | null; pay(payment: Money): void };
type SurplusMoney = NewMoney & { method: string };

const tradeKey = (of: { provider: string; trade_no: string | null }) => `${of.provider} ${of.trade_no}`;

/**
 * The reason why this payment cannot pay its order, or null when it can. The time of arrival counts, not `paid_at` of the
 * provider, so the outcome does not depend on whether the expiry sweep has run.
 */
function surplusReason(order: PayableOrder, payment: Money, now: Date): RefundReason | null {
  if (order.status === orderStatus.cancelled) return 'order_cancelled';
  if (order.status !== orderStatus.pendingPayment) return 'already_paid';
  if (!isPayable(order, now)) return 'order_expired';
  return order.total_amount === payment.amount ? null : 'amount_changed';
}

/** The targets of the payments, and the orders that the notices have paid. */
function openTargets(
  orders: readonly PayableOrder[],
  { sessions }: LockedSubjects,
  providers: PaymentProviders,
  now: Date,
) {
  const paidOrders: PayableOrder[] = [];
  const ofOrder = new Map(
    orders.map((locked): [number, Target] => {
      const order = { ...locked };
      const pay = ({ provider }: Money) => {
        paidOrders.push(order);
        order.status = orderStatus.paid;
        order.payment_method = methodAt(providers.get(provider), order.payment_method);
      };
      return [order.id, { method: order.payment_method, surplusReason: (of) => surplusReason(order, of, now), pay }];
    }),
  );
  const targetOf = ({ order_id, subject, subject_id }: Money): Target => {
    if (order_id !== null) return ofOrder.get(order_id)!;
    const session = sessions.get(subject!)!;
    return { method: '', surplusReason: () => session.refusal(subject_id!), pay: () => session.pay(subject_id!) };
  };
  return { targetOf, paidOrders };
}

/** Decides the notices one after the other, with what is locked, and collects the rows to write. */
function openDecisions(targetOf: (payment: Money) => Target, payments: readonly Money[], now: Date) {
  const byNumber = new Map(payments.map((payment) => [payment.payment_no, { ...payment }]));
  const byTrade = new Map([...byNumber.values()].filter((p) => p.trade_no).map((p) => [tradeKey(p), p]));
  const moves = new Map<number, PaymentMove>();
  const surplus: SurplusMoney[] = [];
  const refunds: NewRefund[] = [];

  const refundSurplus = (payment: Money, reason: RefundReason) => {
    const { payment_no, order_id, provider, amount, currency } = payment;
    refunds.push({ refund_no: refundNumber(now), payment_no, order_id, provider, reason, amount, currency });
  };
  const answerOf = (payment: Money): NoticeAnswer => ({ payment_no: payment.payment_no, status: payment.status });

  /** A second transaction for a payment that has its money: it becomes a payment of its own, which is refunded. */
  const secondTransaction = (payment: Money, notice: PaymentNotice, paid_at: Date): Decision => {
    const { order_id, subject = null, subject_id = null, provider, amount, currency } = payment;
    const row: SurplusMoney = {
      ...{ order_id, subject, subject_id, provider, amount, currency, method: targetOf(payment).method },
      ...{ payment_no: paymentNumber(now), trade_no: notice.trade_no, origin_id: payment.id },
      ...{ status: 'refunding', return_url: '', channel: payment.channel, paid_at, created_at: now },
    };
    surplus.push(row);
    const added = { ...row, id: 0, pay_action: null, action_until: null };
    byTrade.set(tradeKey(notice), added);
    refundSurplus(added, 'paid_twice');
    return { outcome: 'surplus', payment, answer: { payment_no: payment.payment_no, status: 'refunding' } };
  };

  const succeeded = (payment: Money, notice: PaymentNotice): Decision => {
    const known = byTrade.get(tradeKey(notice));
    if (known && known !== payment && known.origin_id !== payment.id)
      return { outcome: 'trade_conflict', payment, answer: orderErrors.trade_conflict() };
    if (known) return { outcome: 'repeated', payment, answer: { ...answerOf(payment), status: known.status } };
    // The clock of the provider may differ: a time in the future or before the payment was created is not used.
    const reported = notice.paid_at ?? now;
    const paid_at = reported < now && reported >= payment.created_at ? reported : now;
    if (payment.paid_at) return secondTransaction(payment, notice, paid_at);
    const target = targetOf(payment);
    const reason = target.surplusReason(payment);
    Object.assign(payment, { trade_no: notice.trade_no, paid_at, status: reason ? 'refunding' : 'succeeded' });
    byTrade.set(tradeKey(notice), payment);
    moves.set(payment.id, { id: payment.id, to: payment.status, trade_no: notice.trade_no, paid_at });
    if (!reason) {
      target.pay(payment);
      return { outcome: 'paid', payment, answer: answerOf(payment) };
    }
    refundSurplus(payment, reason);
    return { outcome: 'surplus', payment, answer: answerOf(payment) };
  };

  const decide = (notice: PaymentNotice): Decision => {
    const payment = byNumber.get(notice.payment_no);
    if (!payment || payment.provider !== notice.provider)
      return { outcome: 'unknown_payment', answer: orderErrors.payment_not_found() };
    if (payment.amount !== notice.amount || payment.currency !== notice.currency)
      return { outcome: 'amount_mismatch', payment, answer: orderErrors.amount_mismatch() };
    if (notice.status === 'succeeded') return succeeded(payment, notice);
    // A "failed" notice after the money was received, or a repeated one, changes nothing.
    if (payment.status !== 'pending') return { outcome: 'repeated', payment, answer: answerOf(payment) };
    payment.status = 'failed';
    moves.set(payment.id, { id: payment.id, to: 'failed', trade_no: null, paid_at: null });
    return { outcome: 'failed', payment, answer: answerOf(payment) };
  };

  return { decide, moves, surplus, refunds };
}

/** One row per distinct notice of this batch. A repeat in the batch increases `seen`. */
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

/** The notices whose nonce is new, or was used before with the same notice. */
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

/** Locks what the notices are about: orders first, then subjects. Notices about orders need no query for subjects. */
async function lockTargets(
  tx: Transaction,
  subjects: readonly PaymentSubject[],
  accepted: readonly PaymentNotice[],
  now: Date,
): Promise<{ orders: PayableOrder[]; payments: Money[]; locked: LockedSubjects }> {
  const [ofSubjects, ofOrders] = [true, false].map((wanted) =>
    accepted.filter((notice) => isOfSubject(notice.payment_no, subjects) === wanted),
  ) as [PaymentNotice[], PaymentNotice[]];
  const orders = ofOrders.length > 0 ? await lockOrdersOfPayments(tx, ofOrders) : [];
  const ids = orders.map((order) => order.id);
  const payments = ids.length > 0 ? await selectPaymentsOf(tx, ids) : [];
  const locked = await lockSubjects(tx, subjects, ofSubjects, now);
  return { orders, payments: [...payments, ...locked.payments], locked };
}

/** The statements that insert second transactions of payments. */
function insertSurplus(tx: Transaction, surplus: readonly SurplusMoney[]): Statement[] {
  const ofOrders = surplus.filter((row): row is SurplusMoney & { order_id: number } => row.order_id !== null);
  const ofSubjects = surplus.filter((row) => row.order_id === null);
  return [
    ...(ofOrders.length > 0 ? [insertPayments(tx, ofOrders)] : []),
    ...(ofSubjects.length > 0 ? [insertSubjectPayments(tx, ofSubjects)] : []),
  ];
}

type Refused = { notice: PaymentNotice; outcome: NoticeOutcome };
type Written = { answers: (NoticeAnswer | Error)[]; refused: Refused[] };

function writeNotices(
  { runtime, inventory, providers, subjects }: Deps,
  notices: readonly PaymentNotice[],
): Promise<Written> {
  const now = runtime.now();
  return writeTransaction(runtime.sql, async (tx) => {
    const withNonce = await withOwnNonce(tx, notices, now);
    const accepted = notices.filter((notice) => withNonce.has(notice));
    const { orders, payments, locked } = await lockTargets(tx, subjects, accepted, now);
    const { targetOf, paidOrders } = openTargets(orders, locked, providers, now);
    const { decide, moves, surplus, refunds } = openDecisions(targetOf, payments, now);
    const decisions = accepted.map(decide);
    const last: Statement[] = [];
    if (paidOrders.length > 0) {
      const requests = paidOrders.map(({ id, user_id, payment_method }) => ({ order_id: id, user_id, payment_method }));
      const values = { inventoryStatus: inventory.statusAfter.confirm, instant: null, now };
      const moved = await markPaid(tx, requests, values);
      if (moved.length !== paidOrders.length) throw new Error('an order changed its status while it was locked');
      last.push(
        ...(await inventory.confirm(
          tx,
          moved.map((order) => order.order_no),
        )),
        ...recordOrders(tx, orderPaid, moved.map(factsOf), now),
      );
    }
    for (const session of locked.sessions.values()) last.push(...session.statements());
    if (moves.size > 0) last.push(movePayments(tx, [...moves.values()], now));
    last.push(...insertSurplus(tx, surplus));
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
    if (accepted.length > 0) last.push(recordNotices(tx, noticeRows(accepted, decisions), now));
    const byNotice = new Map(accepted.map((notice, index) => [notice, decisions[index]!]));
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

/** Two transactions used one trade number for payments of different orders. The later one must be decided again. */
const isSharedTrade = (error: unknown) =>
  error instanceof Error && 'constraint_name' in error && error.constraint_name === 'payments_by_trade';

async function refuseTrade({ runtime }: Deps, notice: PaymentNotice): Promise<Written> {
  const decision: Decision = { outcome: 'trade_conflict', answer: orderErrors.trade_conflict() };
  const value: Written = { answers: [decision.answer], refused: [{ notice, outcome: decision.outcome }] };
  return writeTransaction(runtime.sql, async (tx) => ({
    value,
    last: [recordNotices(tx, noticeRows([notice], [decision]), runtime.now())],
  }));
}

/**
 * Processes notices of providers. A notice may be repeated. Money for an open order pays it (1 -> 2, stock confirmed). Surplus
 * money is recorded and refunded. Other notices are refused and recorded for an operator.
 */
export async function processNotices(deps: Deps, notices: readonly PaymentNotice[]): Promise<(NoticeAnswer | Error)[]> {
  const { runtime } = deps;
  const { answers, refused } = await writeNotices(deps, notices)
    .catch((error: unknown) => {
      if (isSharedTrade(error)) return writeNotices(deps, notices);
      throw error;
    })
    .catch((error: unknown) => {
      // A subject and an order are not locked together: the trade number belongs to the other one. A batch is repeated one by one.
      if (isSharedTrade(error) && notices.length === 1) return refuseTrade(deps, notices[0]!);
      throw error;
    });
  for (const { notice, outcome } of refused) {
    const { provider, payment_no, trade_no, amount, currency } = notice;
    runtime.log.warn({ provider, payment_no, trade_no, amount, currency, outcome }, 'a payment notice was refused');
  }
  return answers;
}
