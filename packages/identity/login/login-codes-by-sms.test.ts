import { setTimeout as sleep } from 'node:timers/promises';
import {
  accountSettings,
  openAliyunSms,
  openTencentSms,
  type SmsService,
} from '@tradepost/testing/servers/sms-services';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

/** Login codes that are sent by an SMS service, with a running worker. */
let shop: Shop;
beforeAll(async () => {
  shop = await openShop({ only: ['api', 'worker'] });
});
afterAll(() => shop?.close());

const until = async (what: string, holds: () => Promise<boolean> | boolean) => {
  for (let i = 0; i < 200; i += 1) {
    if (await holds()) return;
    await sleep(50);
  }
  throw new Error(`${what}: not within 10 s`);
};
const openJobs = async () => {
  const [row] = await shop.database.sql<{ n: number }[]>`
    select count(*)::int as n from graphile_worker._private_jobs where attempts < max_attempts`;
  return row!.n;
};

describe.each([
  ['aliyun', openAliyunSms, '135', 'isv.MOBILE_NUMBER_ILLEGAL', 'isp.SYSTEM_ERROR'],
  ['tencent', openTencentSms, '136', 'FailedOperation.PhoneNumberInBlacklist', 'InternalError.Timeout'],
] as const)('%s', (provider, openService, prefix, permanentCode, retryableCode) => {
  let service: SmsService;
  const phone = (n: number) => `${prefix}0000000${n}`;
  const send = (to: string) => shop.call('POST', '/api/v1/auth/sms/send', { body: { phone: to } });
  const codeIn = (params: unknown) =>
    provider === 'aliyun' ? (params as { code: string }).code : (params as string[])[0];
  beforeAll(async () => {
    service = await openService();
    await shop.server.runtime.settings.setMany(accountSettings(provider, service.url), {
      unset: ['sms.templates'],
    });
  });
  afterEach(() => {
    service.misbehave = null;
    service.accepted.length = 0;
  });
  afterAll(() => service.close());

  test('is refused while the template of the message is missing', async () => {
    expect(await send(phone(1))).toMatchObject({ code: 500, message: 'Sending of codes is not set up' });
    await shop.server.runtime.settings.set('sms.templates', { login_code: 'SMS_1000' });
  });

  test('brings the code to the phone; neither the answer nor the database has it', async () => {
    expect(await send(phone(2))).toMatchObject({ code: 0, data: {} });
    await until('the message', () => service.accepted.length === 1);
    const [sms] = service.accepted;
    expect(sms).toMatchObject({ phone: phone(2), template: 'SMS_1000' });
    const code = codeIn(sms!.params)!;
    const rows = await shop.database.sql`select * from identity.sms_codes`;
    const jobs = await shop.database.sql`select * from graphile_worker._private_jobs`;
    expect(JSON.stringify([rows, jobs])).not.toContain(code);
    expect(await shop.database.sql`select 1 from identity.messages`).toHaveLength(0);
    const body = { phone: phone(2), code };
    expect((await shop.call('POST', '/api/v1/auth/sms/login', { body })).code).toBe(0);
  });

  test('is called again after a passing fault, with a valid code', async () => {
    service.misbehave = { code: retryableCode };
    const before = service.calls;
    await send(phone(3));
    await until('the first attempt', () => service.calls > before);
    service.misbehave = null;
    await until('the second attempt', () => service.accepted.length === 1);
    const body = { phone: phone(3), code: codeIn(service.accepted[0]!.params) };
    expect((await shop.call('POST', '/api/v1/auth/sms/login', { body })).code).toBe(0);
  });

  test('is not called again for a number that it refuses', async () => {
    service.misbehave = { code: permanentCode };
    const before = service.calls;
    await send(phone(4));
    await until('the end of the job', async () => service.calls > before && (await openJobs()) === 0);
    expect(service.calls).toBe(before + 1);
  });
});
