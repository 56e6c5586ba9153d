import { findingsOf, settingsIn } from '@tradepost/module';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { identitySettings } from '../settings.ts';
import { shippedNotice } from '../testing/test-messenger.ts';
import { developmentSenderCheck, messageDoctorCheck } from './message-checks.ts';
import { dependentMessageSettings } from './message-settings.ts';
import { loginCodeNotice } from './notices.ts';
import { ownSenders } from './senders/own-senders.ts';

/** What `tradepost doctor` finds about messages. */
let database: TestDatabase;
const parts = { senders: ownSenders, notices: [loginCodeNotice, shippedNotice] };
const dependent = dependentMessageSettings(parts.senders, parts.notices);
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database?.drop());

async function findings(
  settings: Readonly<Record<string, unknown>>,
  production = false,
  more = dependent,
): Promise<string[]> {
  const facts = {
    sql: database.sql,
    settings: settingsIn({ settings }, [], [...identitySettings, ...more]),
    config: { production },
  };
  const found = findingsOf('messages');
  await messageDoctorCheck(parts).check(facts as never, found);
  await developmentSenderCheck.check(facts as never, found);
  return found.findings.map(({ level, what }) => `${level}: ${what}`);
}
const aliyun = {
  'sms.provider': 'aliyun',
  'sms.access_key': 'id',
  'sms.secret_key': 'secret',
  'sms.sign_name': 'Shop',
};

test('a shop without notices has no finding', async () => {
  expect(await findings({})).toEqual([]);
  expect(await findings({ 'sms.provider': 'off' }, true)).toEqual([]);
});

test('a notice without a template, and login codes without one, are named', async () => {
  const settings = { ...aliyun, 'notices.enabled': ['order_shipped'] };
  expect(await findings(settings)).toEqual([
    'error: sms.provider is aliyun, and login codes can not be sent: not set: login_code in sms.templates',
    'warning: the notice order_shipped is switched on and is not sent: not set: order_shipped in sms.templates',
    'ok: 1 notices are switched on; no message failed in the last 24 hours',
  ]);
  const templates = { login_code: 'SMS_1', order_shipped: 'SMS_2', order_shiped: 'SMS_3' };
  expect(await findings({ ...settings, 'sms.templates': templates })).toEqual([
    'note: sms.templates has templates of unknown notices: order_shiped',
    'ok: 1 notices are switched on; no message failed in the last 24 hours',
  ]);
});

test('login codes that the network could read are a warning', async () => {
  const webhook = (url: string) =>
    findings({ 'sms.provider': 'webhook', 'sms.webhook_secret': 'a secret', 'sms.webhook_url': url });
  expect(await webhook('http://sms.internal.example:9000/send')).toEqual([
    'warning: sms.webhook_url begins with http: the network reads the login codes that are sent to sms.internal.example:9000',
  ]);
  for (const url of ['https://sms.example/send', 'http://127.0.0.1:9000/send', 'http://[::1]:9000/send'])
    expect(await webhook(url)).toEqual([]);
  expect(await findings({ ...aliyun, 'sms.webhook_url': 'http://sms.example/send' })).not.toContainEqual(
    expect.stringContaining('webhook_url'),
  );
});

test('a notice of a module that is switched off is a note', async () => {
  const off = { ...shippedNotice, name: 'parcel_lost' };
  const definitions = dependentMessageSettings(parts.senders, parts.notices, [...parts.notices, off]);
  expect(await findings({ 'notices.enabled': ['parcel_lost'] }, false, definitions)).toEqual([
    'note: notices.enabled has notices of modules that are switched off, which are not sent: parcel_lost',
  ]);
});

test('a notice without a sender is named', async () => {
  expect(await findings({ 'sms.provider': 'off', 'notices.enabled': ['order_shipped'] })).toContain(
    'warning: the notice order_shipped is switched on and is not sent: no sender is set up for sms',
  );
});

test('messages that failed today are counted', async () => {
  await database.sql`
    insert into identity.messages (batch, notice, channel, user_id, phone, params, status, attempts, due_at, created_at)
    select gen_random_uuid(), 'order_shipped', 'sms', 1, '13800000001', '{}', 'failed', 5, now(), now() - n * interval '20 hours'
    from generate_series(0, 2) as n`;
  expect(await findings({})).toEqual(['warning: 2 messages to shoppers failed in the last 24 hours']);
  await database.sql`delete from identity.messages`;
});

test('the log and an endpoint that is not the service are errors of production', async () => {
  expect(await findings({ 'sms.provider': 'log' }, true)).toContainEqual(
    expect.stringMatching(/^error: sms\.provider is log, which production refuses/),
  );
  expect(await findings({ 'sms.endpoint': 'http://127.0.0.1:9000' }, true)).toEqual([
    'error: sms.endpoint is http://127.0.0.1:9000, which is not the SMS service: that server gets all login codes',
  ]);
});
