import type { ServerResponse } from 'node:http';
import { openLog } from '@tradepost/runtime';
import {
  accountSettings,
  openAliyunSms,
  openTencentSms,
  type SmsService,
} from '@tradepost/testing/servers/sms-services';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTestMessenger } from '../../testing/test-messenger.ts';
import { isPermanent } from '../messenger.ts';
import type { SendError } from '../sender.ts';

/** The senders against simulated services over HTTP, which check every signature. */
const phone = '13800000001';
const message = (values: object = {}) => ({
  ...{ id: 'message:7', notice: 'order_shipped', phone },
  params: { company: '顺丰 & Co "1*2"', order_no: '17000000000000000001' },
  ...values,
});
/** Ends a call of a service that does not answer, before the deadline of the sender. */
const soon = () => AbortSignal.timeout(300);
const failure = (work: Promise<void>): Promise<SendError> =>
  work.then(
    () => {
      throw new Error('the message was sent');
    },
    (error: SendError) => error,
  );

describe.each([
  [
    'aliyun',
    openAliyunSms,
    ['isv.MOBILE_NUMBER_ILLEGAL', 'isv.AMOUNT_NOT_ENOUGH'],
    ['isv.BUSINESS_LIMIT_CONTROL', 'isp.SYSTEM_ERROR', 'Throttling.User'],
  ],
  [
    'tencent',
    openTencentSms,
    ['FailedOperation.PhoneNumberInBlacklist', 'UnauthorizedOperation'],
    ['LimitExceeded.DeliveryFrequencyLimit', 'InternalError.Timeout'],
  ],
] as const)('%s', (provider, openService, permanentCodes, retryableCodes) => {
  let service: SmsService;
  const messengerWith = (settings: object = {}) =>
    openTestMessenger({
      ...accountSettings(provider, service.url),
      'sms.templates': { order_shipped: 'SMS_1001', login_code: 'SMS_1000' },
      ...settings,
    }).messenger;
  const send = (values: object = {}, settings: object = {}) =>
    messengerWith(settings).send('sms', message(values), AbortSignal.timeout(10_000));
  beforeAll(async () => {
    service = await openService();
  });
  beforeEach(() => {
    service.misbehave = null;
    service.accepted.length = 0;
  });
  afterAll(() => service.close());

  test('gets the number, the template of the notice and its values, signed', async () => {
    await send();
    const { company, order_no } = message().params;
    expect(service.accepted).toEqual([
      {
        phone,
        template: 'SMS_1001',
        // A service with numbered values gets them in the order of the notice.
        params: provider === 'aliyun' ? { order_no, company } : [order_no, company],
        sign: '河边陶社',
        id: 'message:7',
      },
    ]);
  });

  test.each([
    ['+86 138-0000-0001', phone],
    ['+852 5123 4567', provider === 'aliyun' ? '85251234567' : '+85251234567'],
  ])('gets the number %s in the form of the service', async (given, sent) => {
    await send({ phone: given });
    expect(service.accepted).toMatchObject([{ phone: sent }]);
  });

  test('names each setting that is missing', async () => {
    const messenger = messengerWith({ 'sms.templates': { login_code: 'SMS_1000' }, 'sms.secret_key': '' });
    expect(messenger.notReady('sms', 'order_shipped')).toEqual(['sms.secret_key', 'order_shipped in sms.templates']);
    expect(messengerWith().notReady('sms', 'order_shipped')).toBeNull();
  });

  test('a wrong secret, a wrong signature of the shop and an impossible number are not retried', async () => {
    for (const [values, settings] of [
      [{}, { 'sms.secret_key': 'another' }],
      [{}, { 'sms.sign_name': 'another' }],
      [{ phone: '12345' }, {}],
    ])
      expect(isPermanent(await failure(send(values, settings)))).toBe(true);
    expect(service.accepted).toEqual([]);
  });

  test.each(permanentCodes)('%s is not retried, and the error names it', async (code) => {
    service.misbehave = { code };
    expect(await failure(send())).toMatchObject({ permanent: true, message: `${provider} answered ${code}` });
  });

  test.each(retryableCodes)('%s is retried', async (code) => {
    service.misbehave = { code };
    expect(await failure(send())).toMatchObject({ permanent: false, message: `${provider} answered ${code}` });
  });

  test('an answer that repeats the number is not quoted', async () => {
    service.misbehave = { code: `bad number ${phone}` };
    expect((await failure(send())).message).toBe(`${provider} answered an unknown code`);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['no JSON', (response) => response.writeHead(200).end(`<html>${phone}</html>`)],
    ['JSON of another form', (response) => response.writeHead(200).end('{"Response":{"SendStatusSet":[]},"code":1}')],
    ['nothing', (response) => response.writeHead(200).end()],
    ['a server error', (response) => response.writeHead(503).end('{"Code":"OK"}')],
    ['a redirect', (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['a cut connection', (response) => response.destroy()],
    [
      'an endless answer',
      (response) => {
        response.on('error', () => {});
        const more = () => response.destroyed || response.write('x'.repeat(65_536), () => setImmediate(more));
        more();
      },
    ],
  ])('%s is retried, and the error has no number', async (_what, respond) => {
    service.misbehave = { respond };
    const error = await failure(send());
    expect(error).toMatchObject({ name: 'SendError', permanent: false });
    expect(error.message).not.toContain(phone);
  });

  test('no answer ends at the deadline, and a closed port at once; both are retried', async () => {
    service.misbehave = { respond: () => {} };
    expect(await failure(messengerWith().send('sms', message(), soon()))).toMatchObject({ permanent: false });
    expect(await failure(send({}, { 'sms.endpoint': 'http://127.0.0.1:9' }))).toMatchObject({
      permanent: false,
      message: expect.stringContaining(`${provider} can not be reached`),
    });
  });
});

describe('the deadline of a sender', () => {
  test('is five seconds, so that a hanging service holds a worker no longer', { timeout: 15_000 }, async () => {
    const service = await openAliyunSms();
    try {
      service.misbehave = { respond: () => {} };
      const { messenger } = openTestMessenger({
        ...accountSettings('aliyun', service.url),
        'sms.templates': { order_shipped: 'SMS_1001' },
      });
      const error = await failure(messenger.send('sms', message(), new AbortController().signal));
      expect(error.message).toBe('aliyun can not be reached: TimeoutError');
    } finally {
      await service.close();
    }
  });
});

describe('the senders for development', () => {
  test.each(['log', 'test'])(
    '%s writes the text with a masked number, and is refused in production',
    async (provider) => {
      const lines: string[] = [];
      const log = openLog({ level: 'info', stream: { write: (line: string) => void lines.push(line) } });
      const { messenger } = openTestMessenger({ 'sms.provider': provider }, { log });
      await messenger.send('sms', message(), soon());
      expect(lines.join('')).toContain('138****0001');
      expect(lines.join('')).toContain('Your order 17000000000000000001 was shipped');
      expect(lines.join('')).not.toContain(phone);
      const production = openTestMessenger({ 'sms.provider': provider }, { production: true, log });
      lines.length = 0;
      expect(production.messenger.notReady('sms', 'login_code')).not.toBeNull();
      const code = { notice: 'login_code', params: { code: '123456' } };
      await failure(production.messenger.send('sms', message(code), soon()));
      expect(lines.join('')).not.toContain('123456');
    },
  );
});

describe('a message', () => {
  test('on a channel without a sender, or with the provider off, has no sender', async () => {
    const { messenger } = openTestMessenger({ 'sms.provider': 'off' });
    for (const channel of ['sms', 'wx', 'chat_app'] as const)
      expect(messenger.notReady(channel, 'order_shipped')).toBe('no_sender');
    expect((await failure(messenger.send('wx', message(), soon()))).message).toBe('no sender is set up for wx');
  });

  test('of an unknown notice, without one of its values, or to no number is not retried', async () => {
    const { messenger } = openTestMessenger({ 'sms.provider': 'log' });
    for (const values of [{ notice: 'unknown' }, { params: { order_no: '1' } }, { phone: 'deleted:7' }])
      expect(isPermanent(await failure(messenger.send('sms', message(values), soon())))).toBe(true);
  });

  test('is counted by its notice and outcome', async () => {
    const { messenger, metrics } = openTestMessenger({ 'sms.provider': 'log' });
    await messenger.send('sms', message(), soon());
    await failure(messenger.send('sms', message({ params: {} }), soon()));
    const text = await metrics.registry.metrics();
    expect(text).toContain('shopper_messages_total{notice="order_shipped",outcome="sent"} 1');
    expect(text).toContain('shopper_messages_total{notice="order_shipped",outcome="failed"} 1');
  });
});
