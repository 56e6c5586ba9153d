import type { Sql } from '@tradepost/postgres';
import { openLog } from '@tradepost/runtime';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type OrderMessage, sendReminder } from './remind-orders.ts';

/** The job of a reminder, with and without a messenger. */
let database: TestDatabase;
let sql: Sql;
const log = openLog({ level: 'silent' });
const now = () => new Date('2026-03-01T00:00:00Z');
beforeEach(async () => {
  database = await cloneDatabase();
  sql = database.sql;
});
afterEach(() => database.drop());

async function reminder(status = 1) {
  const [order] = await sql<{ id: number }[]>`
    insert into orders.orders (order_no, user_id, status, goods_amount, total_amount, address_snapshot, expires_at)
    values ('17000000000000000001', 1, ${status}, 1290, 1290, '{"phone":"13800000000"}', now()) returning id`;
  const [row] = await sql<{ id: number }[]>`
    insert into orders.reminders (order_id, channel, staff_id) values (${order!.id}, 'sms', 1) returning id`;
  return { reminder_id: row!.id };
}
const state = async ({ reminder_id }: { reminder_id: number }) => {
  const [row] = await sql`
    select status, attempts, last_error, sent_at is not null as sent from orders.reminders where id = ${reminder_id}`;
  return { ...row! };
};

test('is sent once with number, amount and phone, also when the job runs again', async () => {
  const sent: OrderMessage[] = [];
  const payload = await reminder();
  const messengers = { sms: async (message: OrderMessage) => void sent.push(message) };
  for (let run = 0; run < 3; run += 1) await sendReminder({ sql, now }, messengers, payload, { log });
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatchObject({
    channel: 'sms',
    order_no: '17000000000000000001',
    phone: '13800000000',
    amount: 1290,
  });
  expect(sent[0]!.text).toContain('12.90');
  expect(await state(payload)).toEqual({ status: 'sent', attempts: 1, last_error: '', sent: true });
});

test('stays queued with a reason when there is no messenger', async () => {
  const payload = await reminder();
  await sendReminder({ sql, now }, {}, payload, { log });
  expect(await state(payload)).toMatchObject({
    status: 'queued',
    last_error: 'no sender for this channel',
    sent: false,
  });
});

test('is skipped for an order that was paid in between', async () => {
  const payload = await reminder(2);
  const refuse = { sms: () => Promise.reject(new Error('must not be called')) };
  await sendReminder({ sql, now }, refuse, payload, { log });
  expect(await state(payload)).toMatchObject({ status: 'skipped', attempts: 0 });
});

test('is retried while the messenger fails, and is failed after the fifth attempt', async () => {
  const payload = await reminder();
  const messengers = { sms: () => Promise.reject(new Error('gateway is down')) };
  for (let run = 1; run <= 5; run += 1) {
    await expect(sendReminder({ sql, now }, messengers, payload, { log })).rejects.toThrow('gateway is down');
    const status = run < 5 ? 'queued' : 'failed';
    expect(await state(payload)).toEqual({ status, attempts: run, last_error: 'gateway is down', sent: false });
  }
});
