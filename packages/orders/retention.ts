import { type RetentionRule, retentionDays } from '@tradepost/runtime';

const remindersDays = retentionDays('reminders', 365, 'reminders to pay');
export const orderRetentionSettings = [remindersDays] as const;

export const orderRetention: readonly RetentionRule[] = [
  {
    name: 'reminders',
    about: 'reminders to pay that were sent, have failed or were skipped',
    table: 'orders.reminders',
    age: 't.created_at',
    where: (sql) => sql`t.status <> 'queued'`,
    days: remindersDays,
  },
  {
    name: 'payment_nonces',
    about: 'nonces of payment notices; kept longer than the timestamp of a notice may differ from the clock',
    table: 'orders.payment_nonces',
    age: 't.created_at',
    days: 1,
  },
  {
    name: 'order_exports',
    about: 'records of exports of orders; the change log has its own',
    table: 'orders.order_exports',
    age: 't.created_at',
    days: 730,
  },
];
