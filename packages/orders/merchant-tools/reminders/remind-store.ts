import type { MessageChannel } from '@tradepost/identity';
import type { Queryable, Transaction } from '@tradepost/postgres';
import { maxReminders } from '../../limits.ts';

export type Reminder = {
  id: number;
  order_id: number;
  channel: MessageChannel;
  status: 'queued' | 'sent' | 'failed' | 'skipped';
  attempts: number;
  last_error: string;
  created_at: Date;
  sent_at: Date | null;
};

/** Inserts a reminder for each of these locked orders, except orders with a reminder on the channel after `since`. */
export async function insertReminders(
  tx: Transaction,
  orderIds: readonly number[],
  values: { channel: MessageChannel; staff_id: number; since: Date; now: Date },
): Promise<{ id: number; order_id: number }[]> {
  return tx<{ id: number; order_id: number }[]>`
    insert into orders.reminders (order_id, channel, staff_id, created_at)
    select o.id, ${values.channel}, ${values.staff_id}, ${values.now} from unnest(${[...orderIds]}::bigint[]) as o (id)
    where not exists (
      select from orders.reminders r
      where r.order_id = o.id and r.channel = ${values.channel} and r.created_at > ${values.since} and r.status <> 'failed')
    order by o.id
    returning id, order_id`;
}

/** The reminders of an order, newest first. */
export async function selectReminders(sql: Queryable, orderId: number): Promise<Reminder[]> {
  return sql<Reminder[]>`
    select id, order_id, channel, status, attempts, last_error, created_at, sent_at from orders.reminders
    where order_id = ${orderId} order by id desc limit ${maxReminders}`;
}

export type DueReminder = {
  id: number;
  channel: MessageChannel;
  attempts: number;
  order_no: string;
  total_amount: number;
  phone: string;
  /** The order is pending payment and has not expired. */
  payable: boolean;
};

/** A queued reminder with the data of its message. Undefined when it is not queued any more. */
export async function selectQueuedReminder(sql: Queryable, id: number, now: Date): Promise<DueReminder | undefined> {
  const [row] = await sql<DueReminder[]>`
    select r.id, r.channel, r.attempts, o.order_no, o.total_amount, coalesce(o.address_snapshot ->> 'phone', '') as phone,
           -- 1: pending payment
           o.status = 1 and o.expires_at > ${now} as payable
    from orders.reminders r join orders.orders o on o.id = r.order_id
    where r.id = ${id} and r.status = 'queued'`;
  return row;
}

/** Writes the outcome of a queued reminder. */
export async function markReminder(
  sql: Queryable,
  id: number,
  to: { status: Reminder['status']; attempts: number; last_error: string; sent_at: Date | null },
): Promise<void> {
  await sql`
    update orders.reminders
    set status = ${to.status}, attempts = ${to.attempts}, last_error = ${to.last_error}, sent_at = ${to.sent_at}
    where id = ${id} and status = 'queued'`;
}
