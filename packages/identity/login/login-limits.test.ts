import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { chinese } from '@tradepost/testing/routes/contract';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createShopper, createStaff } from '../index.ts';

/** Guesses and requests for codes are limited, and the limits do not lock the owner out. */
let shop: Shop;
beforeAll(async () => {
  // The address of the client comes from the header, so that one machine can act as many clients.
  shop = await openShop({ trustedProxies: ['127.0.0.1'], only: ['api', 'worker'] });
  const { sql } = shop.server.runtime;
  await createShopper(sql, { username: 'ann', password: 'ann-secret', nickname: 'Ann' });
  await createStaff(sql, { username: 'boss', password: 'boss-secret' });
});
afterAll(() => shop?.close());
/** Each test begins in a new window. */
let hours = 0;
const travel = (ms = 0) => {
  vi.restoreAllMocks();
  const at = Math.ceil(Date.now() / 86_400_000) * 86_400_000 + hours * 3_600_000 + ms;
  vi.spyOn(shop.server.runtime, 'now').mockImplementation(() => new Date(at));
};
const newDay = () => {
  hours += 24;
  travel();
};
afterEach(() => vi.restoreAllMocks());

const from = (address: string) => ({ 'x-forwarded-for': address });
const login = (username: string, password: string, address: string, path = '/api/auth/login', lang = 'en') =>
  shop.call('POST', path, { body: { username, password }, headers: from(address), lang });
const staffLogin = '/admin/api/auth/login';
const send = (phone: string, address = '9.9.9.9', lang = 'en') =>
  shop.call('POST', '/api/v1/auth/sms/send', { body: { phone }, headers: from(address), lang });
const tooMany = { status: 200, code: 429 };
const waitOf = (message: string) => Number(/(\d+) seconds/.exec(message)?.[1]);

test('a phone number of another form is refused with the form that is expected, in both languages', async () => {
  for (const wrong of ['+44 20 7946 0000', '1380000000', '23800000000']) {
    const message = 'phone: must be a mobile number of China: 11 digits that begin with 1';
    expect(await send(wrong)).toMatchObject({ code: 400, message });
    expect((await send(wrong, '9.9.9.9', 'zh-CN')).message).toContain('1 开头的 11 位数字');
  }
});

describe('failed logins', () => {
  test.each([
    ['ann', 'ann-secret', '/api/auth/login'],
    ['boss', 'boss-secret', staffLogin],
  ])(
    'after ten of them the account of %s is locked for all clients, and the answer has the time to wait',
    async (name, secret, path) => {
      newDay();
      for (let i = 0; i < 10; i += 1)
        expect(await login(name, `wrong ${i}`, `1.1.1.${i}`, path)).toMatchObject({ status: 200, code: 401 });
      const refused = await login(name, secret, '1.1.2.1', path);
      expect(refused).toMatchObject(tooMany);
      expect(waitOf(refused.message)).toBeGreaterThan(0);
      expect(waitOf(refused.message)).toBeLessThanOrEqual(15 * 60);
      expect((await login(name, secret, '1.1.2.1', path, 'zh-CN')).message).toMatch(chinese);
      travel(waitOf(refused.message) * 1000);
      expect((await login(name, secret, '1.1.2.1', path)).code, 'and then it is over').toBe(0);
    },
  );

  test('the limit of an account counts the attempts at both login routes', async () => {
    newDay();
    for (let i = 0; i < 10; i += 1) await login('boss', 'wrong', `1.2.1.${i}`, i % 2 ? staffLogin : '/api/auth/login');
    for (const path of ['/api/auth/login', staffLogin])
      expect(await login('boss', 'boss-secret', '1.2.2.1', path)).toMatchObject(tooMany);
  });

  test('a successful login resets the count of failures', async () => {
    newDay();
    for (let round = 0; round < 3; round += 1) {
      for (let i = 0; i < 9; i += 1) expect((await login('ann', 'wrong', '1.3.1.1')).code).toBe(401);
      expect((await login('ann', 'ann-secret', '1.3.1.1')).code).toBe(0);
    }
  });

  test('failures from other addresses do not lock out the owner at an address with an earlier login', async () => {
    newDay();
    expect((await login('ann', 'ann-secret', '1.4.1.1')).code).toBe(0);
    for (let i = 0; i < 12; i += 1) await login('ann', 'wrong', `1.4.2.${i}`);
    expect(await login('ann', 'ann-secret', '1.4.3.1')).toMatchObject(tooMany);
    expect((await login('ann', 'ann-secret', '1.4.1.1')).code).toBe(0);
    for (let i = 0; i < 10; i += 1) await login('ann', 'wrong', '1.4.1.1');
    expect(await login('ann', 'ann-secret', '1.4.1.1'), 'which is bounded as well').toMatchObject(tooMany);
  });

  test('one address cannot try one password with many names', async () => {
    newDay();
    const { settings } = shop.server.runtime;
    await settings.set('login.failures_per_address', 5);
    try {
      const codes = [];
      for (let i = 0; i < 7; i += 1) codes.push((await login(`name${i}`, 'wrong', '1.5.1.1')).code);
      expect(codes).toEqual([...Array(5).fill(401), 429, 429]);
      expect(await login('ann', 'ann-secret', '1.5.1.1')).toMatchObject(tooMany);
      expect((await login('ann', 'ann-secret', '1.5.1.2')).code, 'other addresses can log in').toBe(0);
      // A client with one IPv6 address usually has 2^64 of them.
      for (let i = 0; i < 5; i += 1) await login(`name${i}`, 'wrong', `2001:db8::${i + 1}`);
      expect(await login('ann', 'ann-secret', '2001:db8::ffff')).toMatchObject(tooMany);
      expect((await login('ann', 'ann-secret', '2001:db8:0:1::1')).code).toBe(0);
    } finally {
      await settings.unset('login.failures_per_address');
    }
  });

  test('thirty parallel guesses get no more answers than ten sequential ones', async () => {
    newDay();
    const wrong = Promise.all(Array.from({ length: 30 }, (_, i) => login('ann', 'wrong', `1.6.1.${i}`)));
    await sleep(100);
    const right = await login('ann', 'ann-secret', '1.6.1.99');
    expect((await wrong).filter((guess) => guess.code === 401).length).toBeLessThanOrEqual(10);
    expect(right, 'which came after them').toMatchObject(tooMany);
  });

  test('many parallel right logins are not limited', async () => {
    newDay();
    const answers = await Promise.all(Array.from({ length: 20 }, () => login('ann', 'ann-secret', '1.7.1.1')));
    expect(answers.filter((answer) => answer.code === 0)).toHaveLength(20);
  });

  test('logins work when the store is down', async () => {
    newDay();
    const { store } = shop.server.runtime;
    for (const name of ['increment', 'get', 'set', 'delete'] as const)
      vi.spyOn(store, name).mockRejectedValue(new Error('store is down'));
    expect((await login('ann', 'ann-secret', '1.8.1.1')).code).toBe(0);
    expect((await login('ann', 'wrong', '1.8.1.1')).code).toBe(401);
    expect((await send('13600000001')).code).toBe(0);
  });

  test('guesses of SMS codes count at the limits of the phone and of the address', async () => {
    newDay();
    const guess = (phone: string, address: string) =>
      shop.call('POST', '/api/v1/auth/sms/login', { body: { phone, code: '000000' }, headers: from(address) });
    for (let i = 0; i < 10; i += 1) expect((await guess('13600000002', `1.9.1.${i}`)).code).toBe(10001);
    expect(await guess('13600000002', '1.9.2.1')).toMatchObject(tooMany);
    for (let i = 0; i < 50; i += 1) await guess(`136000010${String(i).padStart(2, '0')}`, '1.9.3.1');
    expect(await guess('13600000003', '1.9.3.1')).toMatchObject(tooMany);
  });

  test('the store has no readable names and addresses', async () => {
    newDay();
    const keys: string[] = [];
    vi.spyOn(shop.server.runtime.store, 'increment').mockImplementation(async (key) => {
      keys.push(key);
      return 1;
    });
    await login('ann', 'wrong', '1.10.1.1');
    await send('13600000004', '1.10.1.1');
    expect(keys.length).toBeGreaterThan(3);
    expect(keys.join(' ')).not.toMatch(/ann\b|1\.10\.1\.1|13600000004/);
  });
});

describe('sending of codes', () => {
  const phone = (n: number) => `1350000${String(n).padStart(4, '0')}`;

  test('a phone gets one code per minute; of ten parallel requests one is sent', async () => {
    newDay();
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => send(phone(1), `3.1.1.${i}`)));
    expect(answers.filter((answer) => answer.code === 0)).toHaveLength(1);
    const refused = answers.find((answer) => answer.code !== 0)!;
    expect(refused).toMatchObject(tooMany);
    expect(waitOf(refused.message)).toBe(60);
    expect((await send(phone(1), '3.1.2.1', 'zh-CN')).message).toMatch(chinese);
    travel(59_000);
    expect(waitOf((await send(phone(1))).message)).toBe(1);
    travel(60_000);
    expect((await send(phone(1))).code).toBe(0);
  });

  test('the minute counts from the request, also when the code was used in between', async () => {
    newDay();
    const { data } = await send(phone(2));
    const body = { phone: phone(2), code: data.dev_code };
    expect((await shop.call('POST', '/api/v1/auth/sms/login', { body })).code).toBe(0);
    expect(await send(phone(2))).toMatchObject(tooMany);
  });

  test('a phone gets five codes per hour and ten per day', async () => {
    newDay();
    const sent: number[] = [];
    for (let hour = 0; hour < 4; hour += 1)
      for (let minute = 0; minute < 6; minute += 1) {
        travel((hour * 60 + minute) * 60_000);
        sent.push((await send(phone(3), `3.3.${hour}.${minute}`)).code);
      }
    const five = [0, 0, 0, 0, 0, 429];
    expect(sent).toEqual([...five, ...five, ...Array(12).fill(429)]);
    const { message } = await send(phone(3));
    expect(waitOf(message), 'until the day ends').toBeGreaterThan(20 * 3600);
  });

  test('twenty parallel requests for one phone do not exceed the limit per hour, also without a resend time', async () => {
    newDay();
    const { settings } = shop.server.runtime;
    await settings.set('sms.resend_seconds', 0);
    try {
      const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => send(phone(4), `3.5.1.${i}`)));
      expect(answers.filter(({ code }) => code === 0)).toHaveLength(5);
      expect(answers.filter(({ code }) => code === 429)).toHaveLength(15);
    } finally {
      await settings.unset('sms.resend_seconds');
    }
  });

  test('parallel guesses of a code get five attempts', async () => {
    newDay();
    const { data } = await send(phone(5));
    const guess = (code: string) =>
      shop.call('POST', '/api/v1/auth/sms/login', { body: { phone: phone(5), code }, headers: from('3.6.1.1') });
    const wrong = data.dev_code === '111111' ? '222222' : '111111';
    const answers = await Promise.all(Array.from({ length: 9 }, () => guess(wrong)));
    expect(answers.filter(({ message }) => message === 'Invalid verification code')).toHaveLength(4);
    expect((await guess(data.dev_code)).code, 'the right one comes too late').toBe(10001);
  });

  test('an address gets sixty codes per hour', async () => {
    newDay();
    const sent: number[] = [];
    for (let i = 0; i < 62; i += 1) sent.push((await send(phone(100 + i), '3.4.1.1')).code);
    expect(sent).toEqual([...Array(60).fill(0), 429, 429]);
    expect((await send(phone(99), '3.4.1.2')).code).toBe(0);
  });
});

describe('the webhook', () => {
  type Message = { id: string; phone: string; code: string; expires_at: string };
  const received: { body: string; signature: string; message: Message }[] = [];
  let status = 200;
  const hook = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const signature = String(request.headers['x-tradepost-signature']);
      received.push({ body, signature, message: JSON.parse(body) });
      response.writeHead(status).end('ok');
    });
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
    await shop.server.runtime.settings.set('sms.provider', 'webhook');
  });
  afterAll(async () => {
    hook.close();
    await shop.server.runtime.settings.set('sms.provider', 'test');
  });
  const arrived = async (n: number) => {
    for (let i = 0; i < 200 && received.length < n; i += 1) await sleep(50);
    return received[n - 1]!;
  };

  test('that is not set up is refused, and nothing is sent', async () => {
    expect(await send('13400000001')).toMatchObject({
      status: 200,
      code: 500,
      message: 'Sending of codes is not set up',
    });
    const { settings } = shop.server.runtime;
    await settings.set('sms.webhook_url', `http://127.0.0.1:${(hook.address() as AddressInfo).port}/sms`);
    await settings.set('sms.webhook_secret', 'hook secret');
  });

  test('gets the phone and the code with a signature; neither the answer nor the database has the code', async () => {
    const answer = await send('13400000002');
    expect(answer).toMatchObject({ code: 0, data: {} });
    expect(answer.data.dev_code).toBeUndefined();
    const { body, signature, message } = await arrived(1);
    expect(message).toMatchObject({ phone: '13400000002', code: expect.stringMatching(/^\d{6}$/) });
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature)!;
    expect(v1).toBe(createHmac('sha256', 'hook secret').update(`${t}.${body}`).digest('hex'));
    const rows = await shop.database.sql`select * from identity.sms_codes where phone = '13400000002'`;
    const jobs = await shop.database.sql`select * from graphile_worker._private_jobs`;
    expect(JSON.stringify([rows, jobs])).not.toContain(message.code);
    const logged = await shop.call('POST', '/api/v1/auth/sms/login', {
      body: { phone: '13400000002', code: message.code },
    });
    expect(logged.code).toBe(0);
  });

  test('that fails is called again with a valid code', async () => {
    status = 503;
    await send('13400000003');
    await arrived(2);
    const waiting = await shop.database
      .sql`select priority from graphile_worker.jobs where task_identifier like '%sms%'`;
    expect(waiting, 'before notices and other jobs').toEqual([{ priority: -10 }]);
    status = 200;
    const { message } = await arrived(3);
    expect(message.phone).toBe('13400000003');
    const body = { phone: '13400000003', code: message.code };
    expect((await shop.call('POST', '/api/v1/auth/sms/login', { body })).code).toBe(0);
  });

  test('does not get a request that is older than the lifetime of a code', async () => {
    const before = received.length;
    await shop.database.sql`
      insert into identity.sms_codes (phone, request_id, requested_at)
      values ('13400000004', 'a5b2b9a4-6b8f-4f3b-9d51-0f3f0f6f7a11', now() - interval '6 minutes')`;
    await shop.database.sql`
      select graphile_worker.add_job('identity.send_sms_code',
        json_build_object('request_id', 'a5b2b9a4-6b8f-4f3b-9d51-0f3f0f6f7a11'))`;
    for (let i = 0; i < 100; i += 1) {
      const [row] = await shop.database.sql`select count(*)::int as n from graphile_worker._private_jobs`;
      if (row!.n === 0) break;
      await sleep(50);
    }
    expect(received.length).toBe(before);
  });
});

test('the provider test is refused in production, because it returns the code to every client', async () => {
  const production = await openShop({ production: true });
  try {
    const body = { phone: '13300000001' };
    const answer = await production.call('POST', '/api/v1/auth/sms/send', { body });
    expect(answer).toMatchObject({ status: 200, code: 500, data: null });
    const [row] = await production.database.sql`select count(*)::int as n from identity.sms_codes`;
    expect(row!.n).toBe(0);
  } finally {
    await production.close();
  }
});
