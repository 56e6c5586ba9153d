import { catalogModule } from '@tradepost/catalog';
import { identityModule } from '@tradepost/identity';
import { inventoryModule } from '@tradepost/inventory';
import { openModules } from '@tradepost/module';
import type { Sql } from '@tradepost/postgres';
import { openLog } from '@tradepost/runtime';
import { type ModuleShop, openModuleShop } from '@tradepost/testing/module-shop';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { openWebhook, type Webhook } from '@tradepost/testing/servers/message-webhook';
import { accountSettings, openTencentSms } from '@tradepost/testing/servers/sms-services';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ordersModule } from '../../module.ts';

/** The job of a reminder, with receivers that accept, fail and refuse. */
const modules = [identityModule, catalogModule, inventoryModule, ordersModule];
let database: TestDatabase;
let sql: Sql;
let webhook: Webhook;
let shop: ModuleShop;
let send: (payload: unknown) => Promise<void>;
const closers: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  database = await cloneDatabase();
  closers.push(() => database.drop());
  sql = database.sql;
  webhook = await openWebhook();
  closers.push(() => webhook.close());
  shop = await openModuleShop(database, modules, webhook.settings);
  closers.push(() => shop.close());
  const opened = await openModules(shop.runtime, modules);
  closers.push(() => opened.close());
  const log = openLog({ level: 'silent' });
  send = (payload) => opened.tasks['orders.remind']!(payload, { log, signal: AbortSignal.timeout(10_000) });
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function reminder(status = 1, phone = '13800000000') {
  const [order] = await sql<{ id: number }[]>`
    insert into orders.orders (order_no, user_id, status, goods_amount, total_amount, address_snapshot, expires_at)
    values ('17000000000000000001', 1, ${status}, 1290, 1290, ${sql.json({ phone })}, now() + interval '1 hour') returning id`;
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
    await shop.runtime.settings.setMany({
      ...accountSettings('tencent', service.url),
      'sms.templates': { remind_pay: '2100001' },
    });
    await send(await reminder());
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
  await shop.runtime.settings.set('sms.provider', 'off');
  await expect(send(payload)).rejects.toThrow('no sender is set up for sms');
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
