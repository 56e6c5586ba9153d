import { toWire } from '@tradepost/core';
import { failureText, isPermanent, type MessageChannel, type Messenger, type ShopperNotice } from '@tradepost/identity';
import { writeTransaction } from '@tradepost/postgres';
import { enqueueJobs, type Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { orderErrors } from '../../errors.ts';
import { isPayable } from '../../orders/order-status.ts';
import { lockOrders } from '../repricing/reprice-store.ts';
import { insertReminders, markReminder, selectQueuedReminder } from './remind-store.ts';

/** Administrators request reminders one by one, so the shop has no switch for them. */
export const remindPayNotice: ShopperNotice = {
  name: 'remind_pay',
  about: 'an order waits for its payment',
  params: ['order_no', 'amount'],
  texts: {
    en: 'Your order {order_no} ({amount}) is waiting for its payment.',
    'zh-CN': '您的订单 {order_no} 待付款 {amount} 元，请尽快支付。',
  },
  always: true,
};

export const remindTask = 'orders.remind';
const maxAttempts = 5;

/** Throws the refusal when no reminder can be sent on the channel. */
export function refuseWithoutSender(messenger: Messenger, channel: MessageChannel): void {
  const notReady = messenger.notReady(channel, remindPayNotice.name);
  if (notReady === 'no_sender') throw orderErrors.no_sender({ channel });
  if (notReady) throw orderErrors.sender_not_ready({ channel, missing: notReady.join(', ') });
}

/**
 * Reminds the buyers of unpaid orders to pay. Each reminder is a row and a job, written in one transaction; the job sends the
 * message. An order gets at most one reminder per channel in `everyMinutes`. Returns for each order true or its refusal.
 */
export async function remindOrders(
  runtime: Pick<Runtime, 'sql' | 'now'>,
  orderIds: readonly number[],
  by: { channel: MessageChannel; staff_id: number; everyMinutes: number },
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

/**
 * Sends one reminder. It is skipped when its order can no longer be paid, and has failed when the sender refuses it for good
 * or after the last attempt. A worker that ends between the sending and its record makes the next attempt send it again.
 */
export async function sendReminder(
  runtime: Pick<Runtime, 'sql' | 'now'>,
  messenger: Messenger,
  payload: unknown,
  signal: AbortSignal,
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
  const attempts = due.attempts + 1;
  const params = { order_no, amount: toWire(total_amount).toFixed(2) };
  const message = { id: `reminder:${reminder_id}`, notice: remindPayNotice.name, phone, params };
  try {
    await messenger.send(channel, message, signal);
  } catch (error) {
    const final = isPermanent(error) || attempts >= maxAttempts;
    const reason = failureText(error);
    await mark(final ? 'failed' : 'queued', attempts, reason);
    if (isPermanent(error)) return;
    throw new Error(reason);
  }
  await mark('sent', attempts);
}
