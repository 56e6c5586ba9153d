import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { declaredBy } from '@tradepost/module';
import { runAudits, startWorker } from '@tradepost/runtime';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { openWebhook, type Webhook } from '@tradepost/testing/servers/message-webhook';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { enqueueNotices, identityModule, type Notice } from '../index.ts';
import { type MessageWorker, messageModules, openMessageWorker } from '../testing/message-shop.ts';
import { retryMessages } from './manage-messages.ts';

/** Notices to shoppers: queued with their cause, sent by workers, retried and limited. */
let database: TestDatabase;
let webhook: Webhook;
let worker: MessageWorker;
const closers: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  database = await cloneDatabase();
  closers.push(() => database.drop());
  webhook = await openWebhook();
  closers.push(() => webhook.close());
  worker = await openWorker();
  await worker.runtime.settings.setMany({ ...webhook.settings, 'notices.enabled': ['parcel_ready'] });
  await database.sql`insert into identity.shoppers (nickname) values ('Ann')`;
});
afterEach(async () => {
  vi.restoreAllMocks();
  const broken = (await runAudits(database.sql, declaredBy(messageModules, 'audits'))).filter(({ total }) => total > 0);
  for (const close of closers.splice(0).reverse()) await close();
  expect(broken).toEqual([]);
});

async function openWorker(running = messageModules): Promise<MessageWorker> {
  const opened = await openMessageWorker(database.url, running);
  closers.push(() => opened.close());
  return opened;
}
const notice = (values: Partial<Notice> = {}): Notice => ({
  notice: 'parcel_ready',
  user_id: 1,
  phone: '13800000001',
  params: { order_no: 'N1', place: '东门 Kiosk' },
  ...values,
});
const enqueue = (...notices: Notice[]) => worker.runtime.sql.begin((tx) => enqueueNotices(tx, worker.runtime, notices));
const messages = () =>
  database.sql<
    { id: number; batch: string; status: string; attempts: number; last_error: string; phone: string }[]
  >`select id, batch, status, attempts, last_error, phone from identity.messages order by id`;
const firstMessage = async () => (await messages())[0]!;
const jobs = () => database.sql<{ batch: string; wait: number }[]>`
  select j.payload ->> 'batch' as batch, extract(epoch from j.run_at - now())::float8 as wait
  from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
  where t.identifier = 'identity.send_messages' order by j.id`;
/** Runs the jobs of all batches at once. */
async function sendAll(by: MessageWorker = worker): Promise<void> {
  const batches = [...new Set((await messages()).map(({ batch }) => batch))];
  await Promise.all(batches.map((batch) => by.run('identity.send_messages', { batch })));
}
const later = (by: MessageWorker, ms: number) =>
  vi.spyOn(by.runtime, 'now').mockImplementation(() => new Date(Date.now() + ms));

describe('a notice', () => {
  test('reaches the webhook once, signed, in both languages, with the values in their order', async () => {
    await enqueue(notice());
    expect(await jobs()).toHaveLength(1);
    await sendAll();
    await sendAll();
    expect(webhook.posted).toHaveLength(1);
    const [{ body, signature, message }] = webhook.posted as [Webhook['posted'][number]];
    const { id } = await firstMessage();
    expect(message).toEqual({
      id: `message:${id}`,
      kind: 'parcel_ready',
      phone: '13800000001',
      params: { order_no: 'N1', place: '东门 Kiosk' },
      text: '订单 N1 已到达 东门 Kiosk。 Order N1 is ready at 东门 Kiosk.',
    });
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature)!;
    expect(v1).toBe(createHmac('sha256', 'hook secret').update(`${t}.${body}`).digest('hex'));
    expect(await messages()).toMatchObject([{ status: 'sent', attempts: 1, last_error: '' }]);
  });

  test('is not written, and costs no statement, unless an operator has switched it on and its sender is ready', async () => {
    const { settings, sql } = worker.runtime;
    const texts: string[] = [];
    Object.assign(sql.options, { debug: (_connection: number, text: string) => texts.push(text) });
    const costs = async () => {
      texts.length = 0;
      await enqueue(notice());
      return texts.filter((text) => /messages|add_job/.test(text)).length;
    };
    expect(await costs()).toBe(2);
    await settings.set('sms.webhook_secret', '');
    expect(await costs()).toBe(0);
    await settings.set('sms.provider', 'off');
    expect(await costs()).toBe(0);
    await settings.setMany({ ...webhook.settings, 'notices.enabled': ['parcel_lost'] });
    expect(await costs()).toBe(0);
    await settings.unset('notices.enabled');
    expect(await costs()).toBe(0);
    expect(await messages()).toHaveLength(1);
  });

  test('exists exactly when its transaction commits', async () => {
    const cause = worker.runtime.sql.begin(async (tx) => {
      await enqueueNotices(tx, worker.runtime, [notice()]);
      throw new Error('the change was refused');
    });
    await expect(cause).rejects.toThrow('refused');
    expect([(await messages()).length, (await jobs()).length]).toEqual([0, 0]);
  });

  test('of a thousand orders is written in two statements, and in ten jobs', async () => {
    await enqueue(
      ...Array.from({ length: 1_000 }, (_, i) => notice({ phone: `1370000${String(i).padStart(4, '0')}` })),
    );
    expect([(await messages()).length, (await jobs()).length]).toEqual([1_000, 10]);
  });

  test('is stored with short one-line values, and not for receivers without a number', async () => {
    const place = `a\nb\u0000${'😀'.repeat(120)}\ud800`;
    await enqueue(
      notice({ params: { order_no: 'N1', place } }),
      ...['', 'deleted:7', 'x'].map((phone) => notice({ phone })),
    );
    const rows = await database.sql<{ params: { place: string } }[]>`select params from identity.messages`;
    expect(rows.map(({ params }) => params.place)).toEqual([`a b ${'😀'.repeat(96)}`]);
  });

  test('without one of its values is a mistake of the caller, also while it is switched off', async () => {
    await worker.runtime.settings.unset('notices.enabled');
    await expect(enqueue(notice({ params: { order_no: 'N1' } }))).rejects.toThrow('has no value for place');
  });

  test('that is switched off while it waits is skipped', async () => {
    await enqueue(notice());
    await worker.runtime.settings.set('notices.enabled', []);
    await sendAll();
    expect(webhook.posted).toEqual([]);
    expect(await messages()).toMatchObject([{ status: 'skipped', last_error: 'the notice was switched off' }]);
  });

  test('of a module that is switched off leaves the setting valid and is not sent', async () => {
    await enqueue(notice());
    const without = await openWorker([identityModule]);
    const { settings } = without.runtime;
    expect(settings.list().find(({ key }) => key === 'notices.enabled')).toMatchObject({
      value: ['parcel_ready'],
      source: 'table',
    });
    await settings.set('notices.enabled', ['parcel_ready', 'parcel_lost']);
    await expect(settings.set('notices.enabled', ['parcel_redy'])).rejects.toThrow('parcel_ready, parcel_lost');
    await sendAll(without);
    expect(webhook.posted).toEqual([]);
    expect(await messages()).toMatchObject([
      { status: 'skipped', last_error: 'the module of the notice was switched off' },
    ]);
  });

  test('cannot be switched on under a wrong name', async () => {
    const { settings } = worker.runtime;
    for (const value of [['parcel_redy'], ['login_code'], 'parcel_ready'])
      await expect(settings.set('notices.enabled', value)).rejects.toThrow('parcel_ready');
  });
});

describe('workers', () => {
  test('that send one batch at the same time send each message once', async () => {
    const phones = Array.from({ length: 60 }, (_, i) => `137000000${String(i).padStart(2, '0')}`);
    await enqueue(...phones.map((phone) => notice({ phone })));
    webhook.respond = (response) => setTimeout(() => response.writeHead(200).end(), 20);
    const second = await openWorker();
    await Promise.all([sendAll(), sendAll(second), sendAll(), sendAll(second)]);
    expect(webhook.posted.map(({ message }) => message.phone).sort()).toEqual(phones);
    expect((await messages()).every(({ status, attempts }) => status === 'sent' && attempts === 1)).toBe(true);
  });

  test('together send a phone no more notices in 24 hours than the setting allows', async () => {
    await worker.runtime.settings.set('notices.per_phone_day', 5);
    const second = await openWorker();
    const forms = ['13800000001', '+86 138-0000-0001', '138 0000 0001', '0086 13800000001'];
    for (const [i, phone] of forms.entries())
      await enqueue(...Array.from({ length: 6 }, () => notice({ phone })), notice({ phone: `1360000000${i}` }));
    await Promise.all([sendAll(), sendAll(second)]);
    const count = (phone: string) => webhook.posted.filter(({ message }) => message.phone === phone).length;
    expect(count('13800000001')).toBe(5);
    expect(webhook.posted).toHaveLength(9);
    const skipped = (await messages()).filter(({ status }) => status === 'skipped');
    expect(skipped).toHaveLength(19);
    expect(skipped[0]).toMatchObject({ attempts: 0, last_error: 'too many messages to this phone in 24 hours' });
    await database.sql`update identity.messages set created_at = created_at - interval '25 hours'`;
    await enqueue(notice());
    await sendAll();
    expect(count('13800000001'), 'a day later').toBe(6);
  });

  test('send a message again when its worker was killed between sending and record: the same id, and only that one', async () => {
    await enqueue(...['13700000001', '13700000002'].map((phone) => notice({ phone })));
    const { batch } = await firstMessage();
    let child: ChildProcess;
    let killed = false;
    webhook.respond = (response) => {
      if (killed || webhook.posted.length === 2) {
        killed = true;
        child.kill('SIGKILL');
        response.destroy();
      }
      // The first answer waits, so that no outcome is recorded.
    };
    const script = join(import.meta.dirname, '../testing/message-shop.ts');
    child = spawn(process.execPath, [script, database.url, batch], { stdio: 'inherit' });
    const signal = await new Promise((resolve) => child.on('close', (_code, by) => resolve(by)));
    expect(signal).toBe('SIGKILL');
    expect(webhook.posted).toHaveLength(2);
    expect(await messages()).toMatchObject([
      { status: 'queued', attempts: 1 },
      { status: 'queued', attempts: 1 },
    ]);

    webhook.answer(200);
    await sendAll();
    expect(webhook.posted, 'within the minute of the claim').toHaveLength(2);
    expect(await jobs(), 'the job that waits for the end of the claim').toMatchObject([{ batch }]);
    later(worker, 61_000);
    await sendAll();
    const ids = webhook.posted.map(({ message }) => message.id).sort();
    expect(ids).toEqual([ids[0], ids[0], ids[2], ids[2]]);
    expect(await messages()).toMatchObject([
      { status: 'sent', attempts: 2 },
      { status: 'sent', attempts: 2 },
    ]);
  });

  test('that run as jobs send a message again after its pause', async () => {
    // Each reading of the clock is an hour later, so a pause is over when the job enqueues its successor.
    let hours = 0;
    vi.spyOn(worker.runtime, 'now').mockImplementation(() => {
      hours += 1;
      return new Date(Date.now() + hours * 3_600_000);
    });
    webhook.respond = (response) => response.writeHead(webhook.posted.length < 3 ? 503 : 200).end();
    const { runtime, log, tasks } = worker;
    const { databaseUrl: url, metrics } = runtime;
    const jobWorker = await startWorker({ url, tasks, concurrency: 3, log, metrics, shutdownMs: 5_000, crons: [] });
    closers.push(() => jobWorker.stop());
    await enqueue(notice());
    await vi.waitFor(async () => expect(await messages()).toMatchObject([{ status: 'sent', attempts: 3 }]), 15_000);
    await vi.waitFor(async () => expect(await jobs()).toHaveLength(0), 5_000);
  });

  test('with a slow clock wait for the message instead of running again and again', async () => {
    await enqueue(notice());
    later(worker, -60_000);
    await sendAll();
    expect(webhook.posted).toHaveLength(0);
    const [job] = await jobs();
    expect(job!.wait).toBeGreaterThan(30);
  });

  test('find messages whose job was lost', async () => {
    await enqueue(notice());
    await database.sql`select graphile_worker.complete_jobs(array_agg(id)) from graphile_worker.jobs`;
    await worker.run('identity.sweep_messages', {});
    expect(await jobs(), 'not late yet').toHaveLength(0);
    later(worker, 6 * 60_000);
    await worker.run('identity.sweep_messages', {});
    await worker.run('identity.sweep_messages', {});
    expect(await jobs()).toMatchObject([{ batch: (await firstMessage()).batch }]);
  });
});

describe('a failing receiver', () => {
  test('gets a message five times with growing pauses; then an operator can send it again', async () => {
    webhook.answer(503);
    await enqueue(notice());
    let ms = 0;
    for (const [attempt, pause] of [30, 120, 600, 1_800].entries()) {
      await sendAll();
      await sendAll();
      expect(webhook.posted).toHaveLength(attempt + 1);
      expect(await messages()).toMatchObject([
        { status: 'queued', attempts: attempt + 1, last_error: 'the SMS webhook answered 503' },
      ]);
      const [job] = await jobs();
      expect(job!.wait).toBeGreaterThan(pause - 25);
      expect(job!.wait).toBeLessThanOrEqual(pause);
      ms += pause * 1000 + 1_000;
      later(worker, ms);
    }
    await sendAll();
    expect(await messages()).toMatchObject([{ status: 'failed', attempts: 5 }]);
    await sendAll();
    expect(webhook.posted).toHaveLength(5);

    // The command runs with the modules of the shop, which do not have this notice.
    await worker.runtime.settings.unset('notices.enabled');
    const url = ['--database-url', database.url];
    const listed = await runCommandInProcess(['messages', 'list', '--failed', ...url]);
    expect(listed.stdout).toMatch(/parcel_ready +138\*{4}0001 +failed +5\/5 +- +the SMS webhook answered 503/);
    expect(listed.stdout).not.toContain('13800000001');
    const json = JSON.parse((await runCommandInProcess(['messages', 'list', '--json', ...url])).stdout);
    expect(json).toMatchObject({ total: 1, messages: [{ status: 'failed', phone: '138****0001' }] });
    const { id } = await firstMessage();
    const retried = await runCommandInProcess(['messages', 'retry', String(id), '999', '--json', ...url]);
    expect(retried.code).toBe(1);
    expect(JSON.parse(retried.stdout)).toEqual({ retried: [id], refused: [999] });
    expect((await runCommandInProcess(['messages', 'retry', '--failed', ...url])).stdout).toContain('no messages');
    expect((await runCommandInProcess(['messages', 'retry', ...url])).code).toBe(2);
    await worker.runtime.settings.set('notices.enabled', ['parcel_ready']);
    webhook.answer(200);
    await sendAll();
    expect(await messages()).toMatchObject([{ status: 'sent', attempts: 1 }]);
  });

  test('that refuses a message for good gets it once', async () => {
    webhook.answer(422);
    await enqueue(notice());
    await sendAll();
    expect(await messages()).toMatchObject([
      { status: 'failed', attempts: 1, last_error: 'the SMS webhook answered 422' },
    ]);
  });

  test('that is slow holds a worker for one turn: other jobs run before the rest of the batch', async () => {
    await enqueue(...Array.from({ length: 25 }, (_, i) => notice({ phone: `137000000${String(i).padStart(2, '0')}` })));
    let seconds = 0;
    vi.spyOn(worker.runtime, 'now').mockImplementation(() => {
      seconds += 5;
      return new Date(Date.now() + seconds * 1000);
    });
    await sendAll();
    expect(webhook.posted).toHaveLength(10);
    const [job] = await jobs();
    expect(job!.wait).toBeLessThanOrEqual(0);
    expect(await database.sql`select priority from graphile_worker.jobs`).toEqual([{ priority: 10 }]);
  });

  test('that refuses all messages again gets each once by one retry', async () => {
    const { sql } = database;
    await sql`
      insert into identity.messages (batch, notice, channel, user_id, phone, params, status, attempts, due_at)
      select gen_random_uuid(), 'parcel_ready', 'sms', 1, '13800000001', '{}', 'failed', 5, now() from generate_series(1, 1001)`;
    // As a worker whose sender is refused at once.
    await sql.unsafe(`
      create function fail_again() returns trigger language plpgsql as
        $$ begin new.status := 'failed'; return new; end $$;
      create trigger fail_again before update on identity.messages for each row execute function fail_again();`);
    const retried = await retryMessages(worker.runtime, { failed: true });
    expect([retried.length, new Set(retried).size]).toEqual([1_001, 1_001]);
  });

  test('does not delay the other messages of the batch', async () => {
    webhook.respond = (response) => {
      const { phone } = webhook.posted.at(-1)!.message;
      response.writeHead(phone === '13700000001' ? 500 : 200).end();
    };
    await enqueue(...Array.from({ length: 25 }, (_, i) => notice({ phone: `137000000${String(i).padStart(2, '0')}` })));
    await sendAll();
    const states = (await messages()).map(({ status }) => status);
    expect(states.filter((status) => status === 'sent')).toHaveLength(24);
    expect(states[1]).toBe('queued');
  });
});
