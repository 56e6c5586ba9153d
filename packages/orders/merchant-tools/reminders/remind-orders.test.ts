import type { Sql } from '@tradepost/postgres';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { accountSettings, openTencentSms } from '../../../identity/testing/sms-services.ts';
import { openTestMessenger } from '../../../identity/testing/test-messenger.ts';
import { openWebhook, type Webhook } from '../../../identity/testing/webhook.ts';
import { remindPayNotice, sendReminder } from './remind-orders.ts';

/** The job of a reminder, with receivers that accept, fail and refuse. */
let database: TestDatabase;
let sql: Sql;
let webhook: Webhook;
const now = () => new Date('2026-03-01T00:00:00Z');
const signal = () => AbortSignal.timeout(10_000);
const messengerWith = (settings: object) =>
  openTestMessenger({ ...webhook.settings, ...settings }, { notices: [remindPayNotice] }).messenger;
beforeEach(async () => {
  database = await cloneDatabase();
  sql = database.sql;
  webhook = await openWebhook();
});
afterEach(async () => {
  await webhook.close();
  await database.drop();
});

async function reminder(status = 1, phone = '13800000000') {
  const [order] = await sql<{ id: number }[]>`
    insert into orders.orders (order_no, user_id, status, goods_amount, total_amount, address_snapshot, expires_at)
    values ('17000000000000000001', 1, ${status}, 1290, 1290, ${sql.json({ phone })}, now()) returning id`;
  const [row] = await sql<{ id: number }[]>`
    insert into orders.reminders (order_id, channel, staff_id) values (${order!.id}, 'sms', 1) returning id`;
  return { reminder_id: row!.id };
}
const send = (payload: unknown, settings: object = {}) =>
  sendReminder({ sql, now }, messengerWith(settings), payload, signal());
const state = async ({ reminder_id }: { reminder_id: number }) => {
  const [row] = await sql`
    select status, attempts, last_error, sent_at is not null as sent from orders.reminders where id = ${reminder_id}`;
  return { ...row! };
};

test('is sent once with number, amount and phone, also when the job runs again', async () => {
  const payload = await reminder();
  for (let run = 0; run < 3; run += 1) await send(payload);
  expect(webhook.posted.map(({ message }) => message)).toEqual([
    {
      id: `reminder:${payload.reminder_id}`,
      kind: 'remind_pay',
      phone: '13800000000',
      params: { order_no: '17000000000000000001', amount: '12.90' },
      text: expect.stringMatching(/待付款 12\.90 元.*17000000000000000001 \(12\.90\) is waiting/),
    },
  ]);
  expect(await state(payload)).toEqual({ status: 'sent', attempts: 1, last_error: '', sent: true });
});

test('reaches an SMS service as values of the template of the shop', async () => {
  const service = await openTencentSms();
  try {
    const settings = { ...accountSettings('tencent', service.url), 'sms.templates': { remind_pay: '2100001' } };
    await send(await reminder(), settings);
    expect(service.accepted).toMatchObject([{ template: '2100001', params: ['17000000000000000001', '12.90'] }]);
  } finally {
    await service.close();
  }
});

test('is skipped for an order that was paid in between', async () => {
  const payload = await reminder(2);
  await send(payload);
  expect(webhook.posted).toHaveLength(0);
  expect(await state(payload)).toMatchObject({ status: 'skipped', attempts: 0 });
});

test('is retried while the receiver fails, and is failed after the fifth attempt', async () => {
  const payload = await reminder();
  webhook.answer(503);
  const last_error = 'the SMS webhook answered 503';
  for (let run = 1; run <= 5; run += 1) {
    await expect(send(payload)).rejects.toThrow(last_error);
    const status = run < 5 ? 'queued' : 'failed';
    expect(await state(payload)).toEqual({ status, attempts: run, last_error, sent: false });
  }
  await send(payload);
  expect(webhook.posted).toHaveLength(5);
});

test('is retried with a reason when its sender is no longer set up', async () => {
  const payload = await reminder();
  await expect(send(payload, { 'sms.provider': 'off' })).rejects.toThrow('no sender is set up for sms');
  expect(await state(payload)).toMatchObject({ status: 'queued', attempts: 1, sent: false });
});

test('that is refused for good has failed at once', async () => {
  webhook.answer(410);
  const payload = await reminder();
  await send(payload);
  expect(await state(payload)).toMatchObject({ status: 'failed', attempts: 1, sent: false });
});

test('to an order without a phone has failed at once', async () => {
  const payload = await reminder(1, '');
  await send(payload);
  expect(await state(payload)).toMatchObject({ status: 'failed', last_error: 'the receiver has no phone number' });
});
