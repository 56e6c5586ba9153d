import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createShopper } from '@tradepost/identity';
import { chinese, contract, expectFields } from '@tradepost/testing/routes/contract';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

/** The API contract of login codes, WeChat logins and the deletion of accounts. */
let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
  const { settings } = shop.server.runtime;
  for (const key of ['sms.resend_seconds', 'sms.per_phone_hour', 'sms.per_phone_day', 'sms.per_address_hour'])
    await settings.set(key, 0);
  for (const key of ['login.failures_per_account', 'login.failures_per_address']) await settings.set(key, 0);
});
afterAll(() => shop?.close());

let phones = 13_700_000_000;
const newPhone = () => {
  phones += 1;
  return String(phones);
};
const send = async (phone: string): Promise<string> => {
  const { code, message, data } = await shop.call('POST', '/api/v1/auth/sms/send', { body: { phone } });
  if (code !== 0) throw new Error(message);
  return data.dev_code;
};
const login = (phone: string, code: string, lang = 'en') =>
  shop.call('POST', '/api/v1/auth/sms/login', { body: { phone, code }, lang });
const remove = (token: string, phone: string, code: string, lang = 'en') =>
  shop.call('POST', '/api/v1/user/delete', { token, body: { phone, code }, lang });
const profile = (token: string) => shop.call('GET', '/api/v1/user/profile', { token });
/** A code that differs from this one. */
const other = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
const rowOf = async (phone: string) => {
  const [row] = await shop.database.sql`select * from identity.sms_codes where phone = ${phone}`;
  return row;
};

describe('login by SMS', () => {
  test('a new phone gets an account with its last four digits as name, and the same account the next time', async () => {
    const phone = newPhone();
    const code = await send(phone);
    expect(code).toMatch(/^\d{6}$/);
    const { data } = await login(phone, code);
    expectFields(data, 'token s');
    const mine = (await profile(data.token)).data;
    expectFields(mine, contract.userProfile);
    expect(mine).toMatchObject({ nickname: `User ${phone.slice(-4)}`, points: 0, status: 1, avatar: '' });
    expect(mine.phone).toBe(`${phone.slice(0, 3)}****${phone.slice(-4)}`);
    const again = await login(phone, await send(phone));
    expect((await profile(again.data.token)).data.id).toBe(mine.id);
    const inChinese = newPhone();
    const { data: theirs } = await login(inChinese, await send(inChinese), 'zh-CN');
    expect((await profile(theirs.token)).data.nickname).toBe(`用户${inChinese.slice(-4)}`);
  });

  test('the code is not stored in plain text', async () => {
    const phone = newPhone();
    const code = await send(phone);
    expect(JSON.stringify(await rowOf(phone))).not.toContain(code);
  });

  test('a code works once', async () => {
    const phone = newPhone();
    const code = await send(phone);
    expect((await login(phone, code)).code).toBe(0);
    expect(await login(phone, code)).toMatchObject({ status: 200, code: 10001, message: 'Verification code expired' });
    expect((await login(phone, code, 'zh-CN')).message).toMatch(chinese);
  });

  test('a newer code replaces the older one', async () => {
    const phone = newPhone();
    const older = await send(phone);
    let newer = await send(phone);
    if (newer === older) newer = await send(phone);
    expect(await login(phone, older)).toMatchObject({ code: 10001, message: 'Invalid verification code' });
    expect((await login(phone, newer)).code).toBe(0);
  });

  test('after five minutes it is expired', async () => {
    const phone = newPhone();
    const code = await send(phone);
    const clock = vi.spyOn(shop.server.runtime, 'now').mockReturnValue(new Date(Date.now() + 5 * 60_000 + 1_000));
    try {
      expect(await login(phone, code)).toMatchObject({ code: 10001, message: 'Verification code expired' });
      clock.mockReturnValue(new Date(Date.now() + 4.8 * 60_000));
      expect((await login(phone, code)).code).toBe(0);
    } finally {
      clock.mockRestore();
    }
  });

  test('the code of one phone does not work for another phone', async () => {
    const [mine, theirs] = [newPhone(), newPhone()];
    const code = await send(mine);
    expect(await login(theirs, code)).toMatchObject({ code: 10001, message: 'Verification code expired' });
  });

  test('after five wrong guesses the right code is refused, also when the guesses are parallel', async () => {
    const phone = newPhone();
    const code = await send(phone);
    const guesses = await Promise.all(Array.from({ length: 12 }, () => login(phone, other(code))));
    expect(guesses.map((guess) => guess.code)).toEqual(Array(12).fill(10001));
    expect(guesses.filter((guess) => guess.message === 'Invalid verification code')).toHaveLength(4);
    expect(await login(phone, code)).toMatchObject({ code: 10001, message: expect.stringContaining('Too many wrong') });
    expect((await login(phone, await send(phone))).code, 'a new code is the way out').toBe(0);
  });

  test('of ten parallel logins with one code one succeeds: one token, one account', async () => {
    for (let round = 0; round < 5; round += 1) {
      const phone = newPhone();
      const code = await send(phone);
      const answers = await Promise.all(Array.from({ length: 10 }, () => login(phone, code)));
      expect(answers.filter((answer) => answer.code === 0)).toHaveLength(1);
      expect(new Set(answers.map((answer) => answer.code))).toEqual(new Set([0, 10001]));
      const [row] = await shop.database.sql`select count(*)::int as n from identity.shoppers where phone = ${phone}`;
      expect(row!.n).toBe(1);
    }
  });

  test('a disabled account is refused', async () => {
    const phone = newPhone();
    await login(phone, await send(phone));
    await shop.database.sql`update identity.shoppers set status = 0 where phone = ${phone}`;
    expect(await login(phone, await send(phone))).toMatchObject({ code: 10001, message: 'Account disabled' });
  });

  test.each(['', '   ', '1380000000', '138000000000', '23800000000', '+8613800000000', 'abc', '1380000000a'])(
    'the phone %j is refused with the name of the field',
    async (phone) => {
      for (const path of ['/api/v1/auth/sms/send', '/api/v1/auth/sms/login'])
        expect(await shop.call('POST', path, { body: { phone, code: '123456' } })).toMatchObject({
          status: 200,
          code: 400,
          message: expect.stringContaining('phone'),
        });
    },
  );

  test('its token is the token of a shopper: the back office refuses it', async () => {
    const phone = newPhone();
    const { data } = await login(phone, await send(phone));
    for (const path of ['/admin/api/admins', '/admin/api/roles', '/admin/api/permissions'])
      expect(await shop.call('GET', path, { token: data.token })).toMatchObject({
        code: 403,
        message: 'No permission',
      });
  });
});

describe('the profile', () => {
  test('requires a shopper, and has no secret', async () => {
    expect((await shop.call('GET', '/api/v1/user/profile')).status).toBe(401);
    const admin = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
    expect((await profile(admin)).code).toBe(403);
    const { token } = await shop.shopper();
    const { data } = await profile(token);
    expect(Object.keys(data).sort()).toEqual(
      ['avatar', 'created_at', 'id', 'nickname', 'phone', 'points', 'status'].sort(),
    );
  });
});

describe('deleting an account', () => {
  async function member() {
    const phone = newPhone();
    const { data } = await login(phone, await send(phone));
    const token: string = data.token;
    const { id } = (await profile(token)).data;
    await shop.call('POST', '/api/v1/addresses', { token, body: { name: 'Ann', phone: '13900000000' } });
    return { id: id as number, phone, token };
  }

  test('removes personal data and ends all tokens; the phone can register again', async () => {
    const { id, phone, token } = await member();
    await shop.database.sql`
      update identity.shoppers
      set username = 'soon-gone', password_hash = 'x', avatar = '/me.png', nickname = 'Ann', wechat_open_id = 'soon-gone'
      where id = ${id}`;
    const second = (await login(phone, await send(phone))).data.token;
    expect(await remove(token, phone, await send(phone))).toMatchObject({ status: 200, code: 0, data: null });
    for (const dead of [token, second]) expect((await profile(dead)).status).toBe(401);
    const [row] = await shop.database.sql`select * from identity.shoppers where id = ${id}`;
    expect(row).toMatchObject({
      ...{ status: 0, phone: `deleted:${id}`, avatar: '', username: null, password_hash: null, wechat_open_id: null },
    });
    expect(row!.nickname).not.toContain('Ann');
    expect(row!.deleted_at).toBeInstanceOf(Date);
    const [left] = await shop.database.sql`
      select (select count(*) from identity.addresses where user_id = ${id})::int
           + (select count(*) from identity.former_receivers where user_id = ${id})::int as n`;
    expect(left!.n).toBe(0);
    expect(await rowOf(phone)).toBeUndefined();
    const anew = (await login(phone, await send(phone))).data.token;
    expect((await profile(anew)).data).toMatchObject({ status: 1, points: 0 });
    expect((await profile(anew)).data.id).not.toBe(id);
  });

  test.each([
    ['a wrong code', 'wrong', 'Invalid verification code'],
    ['no requested code', 'none', 'Verification code expired'],
    ["another account's phone", 'other', 'Phone number does not match account'],
  ])('%s is refused with code 10002, and nothing is changed', async (_what, kind, message) => {
    const { phone, token } = await member();
    const otherPhone = newPhone();
    const given =
      kind === 'other'
        ? { phone: otherPhone, code: await send(otherPhone) }
        : { phone, code: kind === 'wrong' ? other(await send(phone)) : '123456' };
    expect(await remove(token, given.phone, given.code)).toMatchObject({ status: 200, code: 10002, message });
    expect((await remove(token, given.phone, given.code, 'zh-CN')).message).toMatch(chinese);
    expect((await profile(token)).data.status).toBe(1);
  });

  test('twice in parallel deletes once, and a login with the same code does not create it again', async () => {
    const { id, phone, token } = await member();
    const code = await send(phone);
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => remove(token, phone, code)),
      ...Array.from({ length: 4 }, () => login(phone, code)),
    ]);
    expect(answers.filter((answer) => answer.code === 0)).toHaveLength(1);
    const [row] = await shop.database.sql`
      select count(*) filter (where status = 1)::int as active, count(*)::int as all from identity.shoppers
      where id = ${id} or phone = ${phone}`;
    const loggedIn = answers.slice(4).some((answer) => answer.code === 0);
    expect(row).toEqual({ active: loggedIn ? 1 : 0, all: 1 });
  });
});

describe('login of the WeChat mini program', () => {
  let fake: Server;
  let calls: URL[] = [];
  let answer: (request: IncomingMessage) => { status?: number; body: string; hang?: boolean };
  const wechat = (code: string, lang = 'en') =>
    shop.call('POST', '/api/v1/auth/wechat/miniapp', { body: { code }, lang });
  beforeAll(async () => {
    fake = createServer((request, response) => {
      calls.push(new URL(request.url ?? '', 'http://x'));
      const { status = 200, body, hang } = answer(request);
      if (hang) return;
      response.writeHead(status, { 'content-type': 'text/plain' }).end(body);
    });
    await new Promise<void>((resolve) => fake.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    fake.closeAllConnections();
    fake.close();
  });

  test('is refused until it is set up', async () => {
    expect(await wechat('abc')).toMatchObject({ status: 200, code: 401, message: 'WeChat login is not set up' });
    const { settings } = shop.server.runtime;
    await settings.set('wechat_auth.mini_app_id', 'wx123');
    await settings.set('wechat_auth.mini_app_secret', 's3cret&more');
    await settings.set(
      'wechat_auth.endpoint',
      `http://127.0.0.1:${(fake.address() as AddressInfo).port}/sns/jscode2session`,
    );
  });

  test('calls the provider; one open id is one account, also for ten parallel logins', async () => {
    calls = [];
    answer = () => ({ body: JSON.stringify({ openid: 'open-1234', session_key: 'k', errcode: 0 }) });
    const answers = await Promise.all(Array.from({ length: 10 }, () => wechat('the code')));
    for (const { code, data } of answers) {
      expect(code).toBe(0);
      expectFields(data, 'token s, open_id s');
      expect(data.open_id).toBe('open-1234');
    }
    expect(Object.fromEntries(calls[0]!.searchParams)).toEqual({
      ...{ appid: 'wx123', secret: 's3cret&more', js_code: 'the code', grant_type: 'authorization_code' },
    });
    const ids = await Promise.all(answers.map(async ({ data }) => (await profile(data.token)).data.id));
    expect(new Set(ids).size).toBe(1);
    const [row] = await shop.database.sql`select phone, status from identity.shoppers where id = ${ids[0]}`;
    expect(row).toEqual({ phone: null, status: 1 });
  });

  test.each([
    ['a wrong code', () => ({ body: '{"errcode":40029,"errmsg":"invalid code"}' })],
    ['an error page', () => ({ status: 502, body: '<html>' })],
    ['an answer without an id', () => ({ body: '{}' })],
    ['an answer of another form', () => ({ body: '[1]' })],
    ['an empty id', () => ({ body: '{"openid":""}' })],
  ])('%s is refused with code 401 over HTTP 200', async (_what, reply) => {
    answer = reply;
    expect(await wechat('abc')).toMatchObject({ status: 200, code: 401, message: 'WeChat login failed' });
    expect((await wechat('abc', 'zh-CN')).message).toMatch(chinese);
  });

  test('a provider that does not answer is refused after five seconds', async () => {
    answer = () => ({ body: '', hang: true });
    const started = performance.now();
    expect(await wechat('abc')).toMatchObject({ status: 200, code: 401 });
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  test('a disabled account is refused', async () => {
    answer = () => ({ body: '{"openid":"open-1234"}' });
    await shop.database.sql`update identity.shoppers set status = 0 where wechat_open_id = 'open-1234'`;
    expect(await wechat('abc')).toMatchObject({ code: 401, message: 'Account disabled' });
  });
});

test('a shopper with a password can log in by SMS to the same account', async () => {
  const phone = newPhone();
  const id = await createShopper(shop.server.runtime.sql, {
    ...{ username: 'both', password: 'both-secret', nickname: 'Both', phone },
  });
  const { data } = await login(phone, await send(phone));
  expect((await profile(data.token)).data).toMatchObject({ id, nickname: 'Both' });
});

test('deleting an account and logging in send no more statements than their routes declare', async () => {
  const { statements } = shop.server.runtime.metrics;
  const sent = async (path: string, work: () => Promise<{ code: number }>) => {
    const count = async () => (await statements.get()).values[0]!.value;
    const before = await count();
    expect((await work()).code).toBe(0);
    const declared = shop.server.routes.find((route) => route.path === path)!.statements!;
    // The declared number does not include BEGIN and COMMIT.
    expect((await count()) - before, path).toBeLessThanOrEqual(declared + 2);
  };
  const phone = newPhone();
  const code = await send(phone);
  let token = '';
  await sent('/api/v1/auth/sms/login', async () => {
    const answer = await login(phone, code);
    token = answer.data.token;
    return answer;
  });
  const body = { phone };
  await sent('/api/v1/auth/sms/send', () => shop.call('POST', '/api/v1/auth/sms/send', { body }));
  const last = await send(phone);
  await sent('/api/v1/user/delete', () => remove(token, phone, last));
});
