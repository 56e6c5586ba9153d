import { type Minor, toWire } from '@tradepost/core';
import { defineRegistry } from '@tradepost/module';
import { writeTransaction } from '@tradepost/postgres';
import { enqueueJobs, type Log, type Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { asError, orderErrors } from '../../errors.ts';
import { isPayable } from '../../orders/order-status.ts';
import { lockOrders } from '../repricing/reprice-store.ts';
import { type Channel, insertReminders, markReminder, selectQueuedReminder } from './remind-store.ts';

/** The messenger of each channel. Reminders of a channel without a messenger stay queued. */
export const orderMessengers = defineRegistry<{ readonly channel: Channel; readonly send: OrderMessenger }>(
  'orders.messengers',
);

export const remindTask = 'orders.remind';
const maxAttempts = 5;

/** A message to the buyer of an order. `phone` is the number of the receiver. */
export type OrderMessage = { channel: Channel; order_no: string; phone: string; amount: Minor; text: string };

/**
 * Sends one message to a buyer. It rejects when the message must be sent again. It may be called twice for one message,
 * because a worker can die after the message was sent and before that was recorded.
 */
type OrderMessenger = (message: OrderMessage) => Promise<void>;
export type OrderMessengers = Partial<Record<Channel, OrderMessenger>>;

/**
 * Reminds the buyers of unpaid orders to pay. Each reminder is a row and a job, written in one transaction; the job sends the
 * message. An order gets at most one reminder per channel in `everyMinutes`. Returns for each order true or its refusal.
 */
export async function remindOrders(
  runtime: Pick<Runtime, 'sql' | 'now'>,
  orderIds: readonly number[],
  by: { channel: Channel; staff_id: number; everyMinutes: number },
): Promise<(true | Error)[]> {
  const now = runtime.now();
  const since = new Date(now.getTime() - by.everyMinutes * 60_000);
  return writeTransaction(runtime.sql, async (tx) => {
    // The orders are locked, so the second of two clicks sees the row of the first one.
    const orders = new Map((await lockOrders(tx, orderIds)).map((order) => [order.id, isPayable(order, now)]));
    const payable = orderIds.filter((id) => orders.get(id));
    const inserted = payable.length > 0 ? await insertReminders(tx, payable, { ...by, since, now }) : [];
    const reminded = new Set(inserted.map((row) => row.order_id));
    const value = orderIds.map((id) => {
      if (reminded.has(id)) return true;
      if (!orders.has(id)) return orderErrors.order_not_found();
      if (!orders.get(id)) return orderErrors.cannot_remind();
      return orderErrors.reminded_already({ minutes: by.everyMinutes });
    });
    const jobs = inserted.map(({ id }) => ({ task: remindTask, payload: { reminder_id: id }, maxAttempts }));
    return { value, last: jobs.length > 0 ? [enqueueJobs(tx, jobs)] : [] };
  });
}

const payloadSchema = z.object({ reminder_id: z.int() });

/** The text is in both languages, because the language of the receiver is not known. */
function reminderText(orderNo: string, amount: Minor): string {
  const sum = toWire(amount).toFixed(2);
  return `您的订单 ${orderNo} 待付款 ${sum} 元，请尽快支付。 Your order ${orderNo} (${sum}) is waiting for its payment.`;
}

/**
 * Sends one reminder. Without a messenger for its channel the reminder stays queued, and `last_error` has the reason. It is
 * skipped when its order can no longer be paid.
 */
export async function sendReminder(
  runtime: Pick<Runtime, 'sql' | 'now'>,
  messengers: OrderMessengers,
  payload: unknown,
  { log }: { log: Log },
): Promise<void> {
  const { reminder_id } = payloadSchema.parse(payload);
  const due = await selectQueuedReminder(runtime.sql, reminder_id, runtime.now());
  if (!due) return;
  const { channel, order_no, phone, total_amount } = due;
  const mark = (status: 'queued' | 'sent' | 'failed' | 'skipped', attempts: number, last_error = '') =>
    markReminder(runtime.sql, reminder_id, {
      status,
      attempts,
      last_error,
      sent_at: status === 'sent' ? runtime.now() : null,
    });
  if (!due.payable) return mark('skipped', due.attempts);
  const send = messengers[channel];
  if (!send) {
    log.info({ reminder: reminder_id, channel }, 'no messenger for this channel; the reminder stays queued');
    return mark('queued', due.attempts, 'no sender for this channel');
  }
  const attempts = due.attempts + 1;
  try {
    await send({ channel, order_no, phone, amount: total_amount, text: reminderText(order_no, total_amount) });
  } catch (error) {
    const reason = asError(error).message.slice(0, 500);
    await mark(attempts >= maxAttempts ? 'failed' : 'queued', attempts, reason);
    throw error;
  }
  await mark('sent', attempts);
}
