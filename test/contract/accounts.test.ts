import { createShopper, createStaff } from '@tradepost/identity';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { chinese, contract, expectFields } from '@tradepost/testing/routes/contract';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** The API contract of login, logout, profiles, languages and addresses. */
let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
  const { sql } = shop.server.runtime;
  await createShopper(sql, { username: 'ann', password: 'ann-secret', nickname: 'Ann', phone: '13812345678' });
  await createShopper(sql, { username: 'banned', password: 'ann-secret', nickname: 'Banned' });
  await sql`update identity.shoppers set status = 0 where username = 'banned'`;
  await createStaff(sql, { username: 'boss', password: 'boss-secret' });
  await createStaff(sql, { username: 'disabled', password: 'boss-secret' });
  await sql`update identity.staff set status = 0 where username = 'disabled'`;
  await sql`insert into identity.roles (name, permissions) values ('Nothing', '{}'), ('Clerk', '{order:view,order:ship}')`;
  await createStaff(sql, { username: 'clerk', password: 'boss-secret', role: 'Clerk' });
  await createStaff(sql, { username: 'novice', password: 'boss-secret', role: 'Nothing' });
});
afterAll(() => shop?.close());

const claimsOf = (token: string) => {
  const [head, payload] = token
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')));
  return { head, payload };
};
const shopperLogin = '/api/auth/login';
const staffLogin = '/admin/api/auth/login';

describe('login', () => {
  test.each([
    ['a shopper', shopperLogin, 'ann', 'ann-secret', 'user', undefined],
    ['an administrator on the common login', shopperLogin, 'boss', 'boss-secret', 'admin', ['*']],
    ['an administrator on the back-office login', staffLogin, 'boss', 'boss-secret', 'admin', ['*']],
    [
      'a clerk, with the permission codes that the console reads from the token',
      staffLogin,
      'clerk',
      'boss-secret',
      'admin',
      ['order:view', 'order:ship'],
    ],
    [
      'an administrator without permissions, whose token has no perms',
      staffLogin,
      'novice',
      'boss-secret',
      'admin',
      undefined,
    ],
  ])('%s gets a token that clients can decode', async (_who, path, username, password, role, perms) => {
    const answer = await shop.call('POST', path, { body: { username, password } });
    expect(answer).toMatchObject({ status: 200, code: 0, message: 'success' });
    expectFields(answer.data, 'token s');
    const { head, payload } = claimsOf(answer.data.token);
    expect(head.alg).toBe('HS256');
    expectFields(payload, 'user_id i, role s, iat i, exp i');
    expect(payload.role).toBe(role);
    expect(payload.perms).toEqual(perms);
    expect(payload.exp - payload.iat).toBe(168 * 3600);
    expect(Math.abs(payload.iat - Date.now() / 1000)).toBeLessThan(60);
  });

  const wrong = 'Invalid username or password';
  test.each([
    ['wrong password', shopperLogin, 'ann', 'nope', wrong],
    ['unknown name', shopperLogin, 'unknown', 'nope', wrong],
    ['wrong password of staff', staffLogin, 'boss', 'nope', wrong],
    ['unknown staff', staffLogin, 'unknown', 'nope', wrong],
    ['a shopper at the back office', staffLogin, 'ann', 'ann-secret', wrong],
    ['a disabled shopper', shopperLogin, 'banned', 'ann-secret', 'Account disabled'],
    ['a disabled shopper with a wrong password, without a hint at the account', shopperLogin, 'banned', 'nope', wrong],
    ['a disabled administrator', staffLogin, 'disabled', 'boss-secret', 'Account disabled'],
    ['a password with an additional blank', shopperLogin, 'ann', 'ann-secret ', wrong],
  ])(
    '%s is refused with HTTP 200 and code 401, because HTTP 401 ends the session in the merchant app',
    async (_what, path, username, password, message) => {
      const answer = await shop.call('POST', path, { body: { username, password } });
      expect(answer).toMatchObject({ status: 200, code: 401, message });
      const inChinese = await shop.call('POST', path, { body: { username, password }, lang: 'zh-CN' });
      expect(inChinese).toMatchObject({ status: 200, code: 401, message: expect.stringMatching(chinese) });
    },
  );

  test.each([
    ['no password', { username: 'ann' }, 'password'],
    ['no name', { password: 'x' }, 'username'],
    ['blank name', { username: '  ', password: 'x' }, 'username'],
    ['empty body', {}, 'username'],
  ])('%s: the message names the field', async (_what, body, field) => {
    for (const path of [shopperLogin, staffLogin])
      expect(await shop.call('POST', path, { body })).toMatchObject({
        code: 400,
        message: expect.stringContaining(field),
      });
  });
});

describe('profile and logout', () => {
  test('the profile of a shopper has a masked phone', async () => {
    const token = await shop.login('ann', 'ann-secret');
    const { data } = await shop.call('GET', '/api/auth/profile', { token });
    expectFields(data, 'id i, phone s, nickname s, avatar s, points i, status i, created_at t');
    expect(data).toMatchObject({ nickname: 'Ann', phone: '138****5678', points: 0, status: 1, role: 'user' });
    expect(JSON.stringify(data)).not.toContain('argon2');
  });

  test('the profile of an administrator has role and permissions', async () => {
    const token = await shop.login('clerk', 'boss-secret');
    const { data } = await shop.call('GET', '/api/auth/profile', { token });
    expect(data).toMatchObject({
      username: 'clerk',
      role: 'admin',
      role_name: 'Clerk',
      perms: ['order:view', 'order:ship'],
    });
  });

  test('logout ends only this token, on all routes', async () => {
    const token = await shop.login('ann', 'ann-secret');
    const other = await shop.login('ann', 'ann-secret');
    expect(await shop.call('POST', '/api/auth/logout', { token })).toMatchObject({ status: 200, code: 0, data: null });
    for (const path of ['/api/auth/profile', '/api/v1/cart', '/api/v1/addresses', '/api/v1/orders'])
      expect(await shop.call('GET', path, { token })).toMatchObject({
        status: 401,
        code: 401,
        message: 'Token invalid or expired',
      });
    expect(await shop.call('POST', '/api/auth/logout', { token })).toMatchObject({ status: 401 });
    expect(await shop.call('GET', '/api/v1/products', { token }), 'anonymous on public routes').toMatchObject({
      status: 200,
      code: 0,
    });
    expect((await shop.call('GET', '/api/auth/profile', { token: other })).code).toBe(0);
    const [row] = await shop.database
      .sql`select count(*)::int as n from identity.revoked_tokens where jti = ${claimsOf(token).payload.jti}`;
    expect(row!.n, 'a restart must not bring it back').toBe(1);
  });

  test('an administrator who logs out cannot use the back office', async () => {
    const token = await shop.login('boss', 'boss-secret');
    expect((await shop.call('GET', '/admin/api/orders', { token })).code).toBe(0);
    await shop.call('POST', '/api/auth/logout', { token });
    expect(await shop.call('GET', '/admin/api/orders', { token })).toMatchObject({ status: 401, code: 401 });
  });
});

describe('language of messages', () => {
  const english = 'Please log in';
  test.each([
    ['Accept-Language en', '', 'en', false],
    ['Accept-Language zh-CN', '', 'zh-CN', true],
    ['browser header, Chinese first', '', 'zh-CN,zh;q=0.9,en;q=0.8', true],
    ['browser header, English first', '', 'en-US,en;q=0.9,zh-CN;q=0.5', false],
    ['the quality counts, not the position', '', 'en;q=0.3,zh-CN;q=0.9', true],
    ['?lang takes precedence over the header', '?lang=zh-CN', 'en', true],
    ['?lang takes precedence over the header, English', '?lang=en', 'zh-CN', false],
    ['empty ?lang is absent', '?lang=', 'zh-CN', true],
    ['an unknown language, answered in zh-CN, the language of the shop', '', 'fr', true],
  ])('%s', async (_what, query, lang, isChinese) => {
    const { message } = await shop.call('GET', `/api/v1/cart${query}`, { lang });
    expect(message).toEqual(isChinese ? expect.stringMatching(chinese) : english);
  });
});

describe('addresses', () => {
  const fields = {
    name: 'Li Wei',
    phone: '13800000001',
    province: 'Zhejiang',
    city: 'Hangzhou',
    district: 'Xihu',
    detail: '12 Lakeside',
  };
  const path = '/api/v1/addresses';
  /** A shopper without addresses, with functions for the routes. */
  async function newcomer() {
    const { id, token, address_id } = await shop.shopper();
    await shop.call('DELETE', `${path}/${address_id}`, { token });
    return {
      id,
      token,
      add: async (is_default?: unknown) =>
        (await shop.call('POST', path, { token, body: { ...fields, is_default } })).data,
      put: (at: number, body: object) => shop.call('PUT', `${path}/${at}`, { token, body }),
      remove: (at: number) => shop.call('DELETE', `${path}/${at}`, { token }),
      list: async () => (await shop.call('GET', path, { token })).data as { id: number; is_default: number }[],
      defaults: async () =>
        ((await shop.call('GET', path, { token })).data as { id: number; is_default: number }[])
          .filter((a) => a.is_default === 1)
          .map((a) => a.id),
    };
  }

  test('a new shopper gets an empty list of addresses, not null', async () => {
    expect(await (await newcomer()).list()).toEqual([]);
  });

  test('every answer has the fields of the API contract', async () => {
    const ann = await newcomer();
    const made = await ann.add();
    const put = (await ann.put(made.id, { ...fields, name: 'Ann B' })).data;
    for (const address of [made, put, (await ann.list())[0]]) {
      expectFields(address, contract.address);
      expect(address).toMatchObject({ ...fields, name: expect.any(String), user_id: ann.id, id: made.id });
    }
    expect(put.name).toBe('Ann B');
    expect((await ann.remove(made.id)).data).toBeNull();
  });

  test('the first address becomes the default, whatever value is sent', async () => {
    for (const sent of [undefined, 0, 1, null, '']) expect((await (await newcomer()).add(sent)).is_default).toBe(1);
  });

  test('the default comes first, then the newest', async () => {
    const ann = await newcomer();
    const [a, b, c] = [await ann.add(), await ann.add(0), await ann.add(0)];
    expect((await ann.list()).map((x) => x.id)).toEqual([a.id, c.id, b.id]);
    await ann.put(b.id, { ...fields, is_default: 1 });
    expect((await ann.list()).map((x) => x.id)).toEqual([b.id, c.id, a.id]);
  });

  test('a new default, set by creation or by an edit, replaces the old one', async () => {
    const ann = await newcomer();
    const a = await ann.add();
    const b = await ann.add(1);
    expect(await ann.defaults()).toEqual([b.id]);
    await ann.put(a.id, { ...fields, is_default: 1 });
    expect(await ann.defaults()).toEqual([a.id]);
  });

  test('after the removal of the default the newest address is the default; other removals keep it', async () => {
    const ann = await newcomer();
    const [a, b, c, d] = [await ann.add(), await ann.add(), await ann.add(), await ann.add()];
    await ann.remove(b.id);
    expect(await ann.defaults()).toEqual([a.id]);
    await ann.remove(a.id);
    expect(await ann.defaults()).toEqual([d.id]);
    await ann.remove(d.id);
    expect(await ann.defaults()).toEqual([c.id]);
    await ann.remove(c.id);
    expect((await ann.add()).is_default, 'the next one is a first address again').toBe(1);
  });

  test('PUT replaces the whole address; absent fields become empty', async () => {
    const ann = await newcomer();
    const { id } = await ann.add();
    const { data } = await ann.put(id, { name: 'Bob', phone: '13900000000' });
    expect(data).toMatchObject({ name: 'Bob', phone: '13900000000', province: '', city: '', district: '', detail: '' });
  });

  test('a client may send the whole row back', async () => {
    const ann = await newcomer();
    const row = await ann.add();
    const { code, data } = await ann.put(row.id, {
      ...row,
      id: 999,
      user_id: 999,
      created_at: 'long ago',
      city: 'Ningbo',
    });
    expect(code).toBe(0);
    expect(data).toMatchObject({ id: row.id, user_id: ann.id, city: 'Ningbo', created_at: row.created_at });
  });

  test.each(['name', 'phone'])('%s is required; the refusal names it', async (field) => {
    const ann = await newcomer();
    const { id } = await ann.add();
    for (const value of [undefined, null, '', '   ']) {
      const body = { ...fields, [field]: value };
      expect(await ann.put(id, body)).toMatchObject({
        status: 200,
        code: 400,
        message: expect.stringContaining(field),
      });
      expect(await shop.call('POST', path, { token: ann.token, body })).toMatchObject({
        code: 400,
        message: expect.stringContaining(field),
      });
    }
    expect(await ann.list()).toHaveLength(1);
  });

  test('an unknown address is refused, and nothing is changed', async () => {
    const ann = await newcomer();
    const { id } = await ann.add();
    expect(await ann.put(2 ** 40, fields)).toMatchObject({ status: 200, code: 404, message: 'Address not found' });
    expect(await ann.remove(2 ** 40)).toMatchObject({ status: 200, code: 404 });
    expect(await ann.put(2 ** 40, { ...fields, is_default: 1 })).toMatchObject({ code: 404 });
    expect(await ann.defaults()).toEqual([id]);
  });

  test('twenty parallel requests leave one default', async () => {
    const ann = await newcomer();
    const made = await Promise.all(Array.from({ length: 20 }, (_, i) => ann.add(i % 2)));
    expect(await ann.defaults()).toHaveLength(1);
    await Promise.all(made.slice(0, 19).map((address) => ann.remove(address.id)));
    expect(await ann.defaults()).toHaveLength(1);
  });
});

test('afterwards every shopper with addresses has one default', async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});
