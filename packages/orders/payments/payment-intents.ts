import { type Statement, writeTransaction } from '@tradepost/postgres';
import { enqueueJobs, type Runtime } from '@tradepost/runtime';
import { orderErrors } from '../errors.ts';
import { isPayable } from '../orders/order-status.ts';
import { payCurrency } from '../settings.ts';
import { type Payment, type PaymentOfOrder, paymentNumber } from './payment-rules.ts';
import {
  closePayments,
  insertPayments,
  lockOwnOrders,
  type NewPayment,
  type PayableOrder,
  selectPaymentsOf,
  setReturnUrls,
} from './payment-store.ts';
import { checkJob } from './provider-calls/check-payment.ts';
import { methodAt, type PaymentProviders } from './providers/open-providers.ts';

export type CreatePayment = {
  order_id: number;
  user_id: number;
  provider: string;
  channel: string;
  return_url: string;
};

const withOrder = (payment: Payment, { order_no, status, expires_at }: PayableOrder): PaymentOfOrder => ({
  ...payment,
  ...{ order_no, order_status: status, expires_at, refunded_at: null },
});

/**
 * Opens a payment of each order with the requested provider, over the current total. A repeated request returns the open
 * payment. When the order was repriced in between, or another channel is requested, the open payment is closed and a new one opened.
 */
export async function createPayments(
  { runtime, providers }: { runtime: Pick<Runtime, 'sql' | 'now' | 'settings'>; providers: PaymentProviders },
  requests: readonly CreatePayment[],
): Promise<(PaymentOfOrder | Error)[]> {
  const now = runtime.now();
  const currency = runtime.settings.get(payCurrency);
  return writeTransaction(runtime.sql, async (tx) => {
    const orders = await lockOwnOrders(tx, requests);
    const orderOf = new Map(orders.map((order) => [order.id, order]));
    const keyOf = (of: { order_id: number; provider: string }) => `${of.order_id} ${of.provider}`;
    const payments = orders.length > 0 ? await selectPaymentsOf(tx, [...orderOf.keys()]) : [];
    const open = new Map(payments.filter((p) => p.status === 'pending').map((p) => [keyOf(p), p]));
    const opened: NewPayment[] = [];
    const closed: Payment[] = [];
    const returnUrls = new Map<number, string>();

    const answers = requests.map((request) => {
      const { provider, channel, return_url } = request;
      const order = orderOf.get(request.order_id);
      if (!order || order.user_id !== request.user_id || !isPayable(order, now)) return orderErrors.cannot_pay();
      // The external warehouse refused the stock of the order.
      if (order.inventory_status === 'failed') return orderErrors.cannot_pay();
      if (order.total_amount === 0) return orderErrors.nothing_to_pay();
      const existing = open.get(keyOf(request));
      const isSame = (of: Payment) =>
        of.amount === order.total_amount && of.currency === currency && of.channel === channel;
      if (existing && isSame(existing)) {
        const isNewUrl = return_url !== '' && return_url !== existing.return_url;
        if (isNewUrl && existing.id > 0) returnUrls.set(existing.id, return_url);
        return withOrder(existing, order);
      }
      if (existing) closed.push(existing);
      const row: NewPayment = {
        ...{ order_id: order.id, provider, method: methodAt(providers.get(provider), order.payment_method) },
        ...{ amount: order.total_amount, currency },
        ...{ payment_no: paymentNumber(now), status: 'pending', trade_no: null, origin_id: null, return_url, channel },
        ...{ paid_at: null, created_at: now },
      };
      opened.push(row);
      const added: Payment = { ...row, id: 0, pay_action: null, action_until: null };
      open.set(keyOf(request), added);
      return withOrder(added, order);
    });

    const last: Statement[] = [];
    const closedIds = closed.map(({ id }) => id);
    if (closedIds.length > 0) last.push(closePayments(tx, closedIds, now));
    const begun = closed.filter(({ pay_action }) => pay_action !== null).map(({ payment_no }) => checkJob(payment_no));
    if (begun.length > 0) last.push(enqueueJobs(tx, begun));
    if (returnUrls.size > 0)
      last.push(
        setReturnUrls(
          tx,
          Array.from(returnUrls, ([id, return_url]) => ({ id, return_url })),
          now,
        ),
      );
    if (opened.length > 0) last.push(insertPayments(tx, opened));
    return { value: answers, last };
  });
}
