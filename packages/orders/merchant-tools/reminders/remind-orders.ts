import { type Minor, toWire } from '@tradepost/core';
import { defineRegistry } from '@tradepost/module';
import { writeTransaction } from '@tradepost/postgres';
import { enqueueJobs, type Log, type Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { asError, orderErrors } from '../../errors.ts';
import { isPayable } from '../../orders/order.ts';
import { lockOrders } from '../repricing/reprice-store.ts';
import { type Channel, insertReminders, markReminder, selectQueuedReminder } from './remind-store.ts';

/** Sends the messages of one channel. Reminders of a channel that no module adds stay queued. */
export const orderMessengers = defineRegistry<{ readonly channel: Channel; readonly send: OrderMessenger }>(
  'orders.messengers',
);

export const remindTask = 'orders.remind';
const maxAttempts = 5;

/** A text for the buyer of an order. `phone` is the receiver's. */
export type OrderMessage = { channel: Channel; order_no: string; phone: string; amount: Minor; text: string };

/**
 * Sends one message to a person outside the shop. Rejects when it should be tried again. May be called twice for one
 * message: a worker can die between the sending and its record.
 */
type OrderMessenger = (message: OrderMessage) => Promise<void>;
export type OrderMessengers = Partial<Record<Channel, OrderMessenger>>;

/**
 * Reminds the buyers of unpaid orders to pay: a row and a job each, in one transaction; the job sends. At most one per
 * order and channel in `everyMinutes`. Answers per order true or its refusal.
 */
export async function remindOrders(
  runtime: Pick<Runtime, 'sql' | 'now'>,
  orderIds: readonly number[],
  by: { channel: Channel; staff_id: number; everyMinutes: number },
): Promise<(true | Error)[]> {
  const now = runtime.now();
  const since = new Date(now.getTime() - by.everyMinutes * 60_000);
  return writeTransaction(runtime.sql, async (tx) => {
    // Under the orders' locks: of two clicks the second one sees the first one's row.
    const orders = new Map((await lockOrders(tx, orderIds)).map((order) => [order.id, isPayable(order, now)]));
    const payable = orderIds.filter((id) => orders.get(id));
    const made = payable.length > 0 ? await insertReminders(tx, payable, { ...by, since, now }) : [];
    const reminded = new Set(made.map((row) => row.order_id));
    const value = orderIds.map((id) => {
      if (reminded.has(id)) return true;
      if (!orders.has(id)) return orderErrors.order_not_found();
      if (!orders.get(id)) return orderErrors.cannot_remind();
      return orderErrors.reminded_already({ minutes: by.everyMinutes });
    });
    const jobs = made.map(({ id }) => ({ task: remindTask, payload: { reminder_id: id }, maxAttempts }));
    return { value, last: jobs.length > 0 ? [enqueueJobs(tx, jobs)] : [] };
  });
}

const payloadSchema = z.object({ reminder_id: z.int() });

/** In both languages: nobody knows which one the receiver reads. */
function reminderText(orderNo: string, amount: Minor): string {
  const sum = toWire(amount).toFixed(2);
  return `您的订单 ${orderNo} 待付款 ${sum} 元，请尽快支付。 Your order ${orderNo} (${sum}) is waiting for its payment.`;
}

/**
 * Sends one reminder. Without a messenger for its channel it stays queued and says why: whoever connects one later finds it
 * there. One whose order can no longer be paid is skipped.
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
    log.info({ reminder: reminder_id, channel }, 'nothing sends on this channel: the reminder stays queued');
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
