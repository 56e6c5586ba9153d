import { auditViolations } from '@tradepost/testing/audit-violations';
import { dispatchEvents } from '@tradepost/testing/dispatch-events';
import { expectFields } from '@tradepost/testing/routes/contract';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { couponIssuer } from './issuing/coupon-issuer.ts';
import { issueCoupons } from './issuing/issue-coupons.ts';
import { sendCoupon } from './issuing/send-coupon.ts';
import { expireCoupons } from './pricing/expire-coupons.ts';

/** Coupons: what staff do with them, and how shoppers get them. */
let shop: Shop;
let staff: string;
beforeAll(async () => {
  shop = await openShop();
  staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['marketing:view', 'marketing:edit'] });
});
afterAll(() => shop?.close());
beforeEach(
  () =>
    shop.database.sql`truncate marketing.coupons, marketing.coupon_versions, marketing.user_coupons restart identity`,
);

const admin = (method: string, path: string, body?: unknown, options = {}) =>
  shop.call(method, `/admin/api/marketing/coupons${path}`, { token: staff, body, ...options });
const create = async (fields: Record<string, unknown> = {}) => {
  const answer = await admin('POST', '', { name: '10 off', type: 1, discount: 10, ...fields });
  expect(answer.message).toBe('success');
  return answer.data;
};
const hours = (n: number) => new Date(Date.now() + n * 3_600_000).toISOString();
const claim = (id: number, token: string, headers = {}) =>
  shop.call('POST', `/api/v1/coupons/${id}/claim`, { token, headers });
const mine = async (token: string, query = '') =>
  (await shop.call('GET', `/api/v1/user/coupons${query}`, { token })).data;
const buyers = async (count: number) => {
  const rows = await shop.database.sql<{ id: number }[]>`
    insert into identity.shoppers (nickname) select 'Buyer' from generate_series(1, ${count}) returning id`;
  return Promise.all(
    rows.map(async ({ id }) => ({ id, token: await shop.server.tokens.issue({ role: 'user', id, perms: [] }) })),
  );
};
/** A shopper with a paid order. */
async function buyer() {
  const { id, token, address_id } = await shop.shopper();
  const { sku_ids } = await insertProduct(shop.database);
  const body = { address_id, items: [{ sku_id: sku_ids[0] }] };
  const order = await shop.call('POST', '/api/v1/orders', { token, body });
  await shop.call('POST', `/api/v1/orders/${order.data.id}/pay`, { token });
  return { id, token };
}

const couponFields =
  'id i, name s, type i, type_label s, min_amount n, discount x, start_at t|null, end_at t|null, status 0/1, used_count i, ' +
  'description s, stack_rule s, target_type s, total_count i, per_limit i, claimed_count i';

describe('staff', () => {
  test('create, list, edit and delete coupons with the fields of the specification', async () => {
    const short = await create({ min_amount: 99, per_limit: 1, status: 1 });
    expectFields(short, couponFields);
    expect(short).toMatchObject({ type: 1, discount: 10, min_amount: 99, total_count: 0, used_count: 0 });
    expect(short).toMatchObject({ stack_rule: 'exclusive', target_type: 'all', target_value: '', start_at: null });
    const full = await create({
      ...{ name: 'Tenth off', type: '2', discount: '0.9', min_amount: '', start_at: '', end_at: '2040-01-31' },
      ...{ stack_rule: 'cross_type', target_type: 'vip_level', target_value: 3, description: 'x', total_count: 5 },
    });
    expect(full).toMatchObject({ type: 2, discount: 0.9, start_at: null, target_value: 3, total_count: 5 });
    expect(full.end_at).toMatch(/^2040-01-31T23:59:59/);
    const list = async (query: string) => (await admin('GET', query)).data.list.map((row: { id: number }) => row.id);
    expect(await list('?size=200')).toEqual([full.id, short.id]);
    expect(await list('?keyword=TENTH&status=-1&type=')).toEqual([full.id]);
    expect(await list('?type=1&status=1')).toEqual([short.id]);
    expect(await list('?status=0')).toEqual([]);

    // A whole row that is sent back changes nothing.
    expect((await admin('PUT', `/${full.id}`, full)).data).toBeNull();
    const [same] = (await admin('GET', '')).data.list;
    expect(same).toEqual({ ...full, updated_at: same.updated_at });
    expect((await admin('PUT', `/${full.id}`, { status: 0, end_at: '' })).code).toBe(0);
    expect((await admin('GET', '')).data.list[0]).toMatchObject({ status: 0, end_at: null, discount: 0.9 });
    // A number of the form that is empty is 0.
    const emptied = { min_amount: '', total_count: '', per_limit: '' };
    expect((await admin('PUT', `/${short.id}`, emptied)).code).toBe(0);
    const row = (await admin('GET', '?size=200')).data.list.find(({ id }: { id: number }) => id === short.id);
    expect(row).toMatchObject({ min_amount: 0, total_count: 0, per_limit: 0, discount: 10 });
    expect((await admin('DELETE', `/${full.id}`)).data).toBeNull();
    expect((await admin('DELETE', `/${full.id}`)).code).toBe(404);
    expect((await admin('PUT', `/${full.id}`, { name: 'x' })).code).toBe(404);
    expect(await list('')).toEqual([short.id]);
  });

  test.each([
    [{ type: 2, discount: 1.1 }, 'discount'],
    [{ type: 2, discount: 10 }, 'discount'],
    [{ type: 2, discount: 0 }, 'discount'],
    [{ discount: 0 }, 'discount'],
    [{ discount: '' }, 'discount'],
    [{ discount: -1 }, 'discount'],
    [{ type: 4 }, 'type'],
    [{ name: ' ' }, 'name'],
    [{ start_at: 'soon' }, 'start_at'],
    [{ start_at: '2040-01-02', end_at: '2040-01-01' }, 'end_at'],
    [{ stack_rule: 'any' }, 'stack_rule'],
    [{ target_type: 'vip_level', target_value: 'gold' }, 'target_value'],
    [{ per_limit: -1 }, 'per_limit'],
    [{ total_count: 1.5 }, 'total_count'],
  ])('wrong input is refused with its field: %j', async (fields, field) => {
    const { id } = await create();
    for (const answer of [
      await admin('POST', '', { name: 'x', type: 1, discount: 1, ...fields }),
      await admin('PUT', `/${id}`, fields),
    ])
      expect(answer).toMatchObject({ code: 400, message: expect.stringContaining(field) });
  });

  test('a new type reads the discount again, so an amount does not become a rate', async () => {
    const { id } = await create();
    expect((await admin('PUT', `/${id}`, { type: 2 })).message).toContain('discount');
    expect((await admin('PUT', `/${id}`, { type: 2, discount: 0.85 })).code).toBe(0);
    expect((await admin('GET', '')).data.list[0]).toMatchObject({ type: 2, discount: 0.85 });
  });

  test('need the permission', async () => {
    const token = await shop.server.tokens.issue({ role: 'admin', id: 2, perms: ['marketing:view'] });
    expect((await admin('GET', '', undefined, { token })).code).toBe(0);
    expect((await admin('POST', '', { name: 'x', type: 1, discount: 1 }, { token })).code).toBe(403);
  });
});

describe('sending', () => {
  test('goes to shoppers by their ids, one each, within total and per person, and is repeated safely', async () => {
    const all = await buyers(6);
    const { id } = await create({ total_count: 5, per_limit: 1, name: 'Gift' });
    // Not over HTTP: a change of the account ends its tokens.
    const has = async () => {
      const rows = await shop.database.sql`select user_id from marketing.user_coupons`;
      return all.map((shopper) => rows.filter(({ user_id }) => user_id === shopper.id).length);
    };
    await shop.database.sql`update identity.shoppers set status = 0 where id = ${all[1]!.id}`;
    const before = (await shop.database.sql`select id from identity.shoppers where id < ${all[0]!.id} and status = 1`)
      .length;
    await admin('PUT', `/${id}`, { total_count: 5 + before });
    expect((await admin('POST', `/${id}/send`, { count: before + 2 })).data).toEqual({ sent_count: before + 2 });
    const key = { headers: { 'idempotency-key': 'send-once' } };
    for (const _ of ['first', 'repeated'])
      expect((await admin('POST', `/${id}/send`, { count: 1 }, key)).data).toEqual({ sent_count: 1 });
    const [row] = (await admin('GET', '')).data.list;
    expect(row).toMatchObject({ used_count: before + 3, claimed_count: before + 3 });
    await shop.database.sql`update identity.shoppers set status = 1 where id = ${all[1]!.id}`;
    // The lowest ids that have none: the second shopper, then the last one. The total is reached.
    expect((await admin('POST', `/${id}/send`, { count: 1 })).data).toEqual({ sent_count: 1 });
    expect(await has()).toEqual([1, 1, 1, 1, 0, 0]);
    expect((await admin('POST', `/${id}/send`, { count: 10 })).data).toEqual({ sent_count: 1 });
    expect(await has()).toEqual([1, 1, 1, 1, 1, 0]);
    expect((await admin('POST', `/${id}/send`, { count: 10 })).data).toEqual({ sent_count: 0 });
    await dispatchEvents(shop);
    const { token } = all[0]!;
    const { list } = (await shop.call('GET', '/api/v1/messages?group=marketing', { token, lang: 'en' })).data;
    expect(list).toMatchObject([{ content: expect.stringContaining('Gift'), data: { coupon_id: id } }]);
  });

  test('respects the target, and refuses a disabled, ended or missing coupon', async () => {
    const old = await buyer();
    const [fresh] = await buyers(1);
    const { id } = await create({ target_type: 'new_user' });
    await admin('POST', `/${id}/send`, { count: 100_000 });
    expect([await mine(old.token), await mine(fresh!.token)]).toMatchObject([[], [{ coupon_id: id }]]);
    const members = await create({ target_type: 'vip_level', target_value: '1' });
    expect((await admin('POST', `/${members.id}/send`, { count: 10 })).data).toEqual({ sent_count: 0 });
    const { id: ended } = await create({ end_at: hours(-1) });
    const { id: disabled } = await create({ status: 0 });
    const codes = await Promise.all([ended, disabled, 999].map((one) => admin('POST', `/${one}/send`, { count: 1 })));
    expect(codes.map(({ code }) => code)).toEqual([500, 500, 404]);
    for (const count of [0, 100_001, 'many']) expect((await admin('POST', `/${id}/send`, { count })).code).toBe(400);
  });
});

describe('claiming', () => {
  test('fills my coupons with a snapshot, newest first, which later edits do not change', async () => {
    const [shopper] = await buyers(1);
    const { token } = shopper!;
    const first = await create({ name: 'First', min_amount: 50, end_at: hours(1), per_limit: 1 });
    const second = await create({ name: 'Second', type: 2, discount: 0.8 });
    const listed = (await shop.call('GET', '/api/v1/coupons?page=1&size=20', { token })).data;
    expect(listed.map((row: { id: number }) => row.id)).toEqual([second.id, first.id]);
    for (const row of listed) expectFields(row, `${couponFields}, claimed_by_me i, can_claim b`);
    expect((await claim(first.id, token)).data).toBeNull();
    await claim(second.id, token);
    expect((await shop.call('GET', '/api/v1/coupons', { token })).data).toMatchObject([
      { claimed_count: 1, claimed_by_me: 1, can_claim: true },
      { claimed_count: 1, claimed_by_me: 1, can_claim: false },
    ]);
    await admin('PUT', `/${first.id}`, { name: 'Changed', discount: 1 });
    await admin('DELETE', `/${second.id}`);
    const rows = await mine(token);
    for (const row of rows)
      expectFields(
        row,
        'id i, coupon_id i, user_id i, status i, status_label s, used_at t|null, created_at t, coupon o',
      );
    expect(rows).toMatchObject([
      { coupon_id: second.id, status: 1, order_id: null, coupon: { name: 'Second', discount: 0.8, end_at: null } },
      {
        coupon_id: first.id,
        coupon: { id: first.id, name: 'First', type: 1, min_amount: 50, discount: 10, status: 1 },
      },
    ]);
    expect(await auditViolations(shop.database.sql)).toEqual([]);

    await shop.database
      .sql`update marketing.user_coupons set end_at = now() - interval '1 hour' where coupon_id = ${first.id}`;
    expect((await mine(token)).map((row: { status: number }) => row.status)).toEqual([1, 3]);
    expect(await mine(token, '?status=3')).toMatchObject([{ coupon_id: first.id }]);
    expect(await expireCoupons(shop.server.runtime, new AbortController().signal)).toBe(1);
    expect(await shop.database.sql`select status from marketing.user_coupons order by id`).toEqual([
      { status: 3 },
      { status: 1 },
    ]);
  });

  test('each reason of a refusal has a text of its own', async () => {
    const { token } = await buyer();
    const { id: twice } = await create({ per_limit: 1 });
    await claim(twice, token);
    const { id: soldOut } = await create({ total_count: 1 });
    await claim(soldOut, token);
    const { id: disabled } = await create({ status: 0 });
    const { id: early } = await create({ start_at: hours(1) });
    const { id: late } = await create({ end_at: hours(-1) });
    const { id: others } = await create({ target_type: 'new_user' });
    const { id: members } = await create({ target_type: 'vip_level', target_value: 1 });
    const refused = [999, disabled, early, late, others, members, soldOut, twice];
    const answers = await Promise.all(refused.map((id) => claim(id, token)));
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([30001]));
    expect(new Set(answers.map(({ message }) => message)).size).toBe(refused.length - 1);
    const listed = (await shop.call('GET', '/api/v1/coupons', { token })).data;
    expect(listed.map((row: { id: number; can_claim: boolean }) => [row.id, row.can_claim])).toEqual(
      [members, others, soldOut, twice].map((id) => [id, false]),
    );
  });

  test('500 claims at once of a coupon with a total of 100 and one per person give exactly 100, none twice', async () => {
    const { id } = await create({ total_count: 100, per_limit: 1 });
    const shoppers = await buyers(250);
    const answers = await Promise.all([...shoppers, ...shoppers].map(({ token }) => claim(id, token)));
    expect(answers.filter(({ code }) => code === 0)).toHaveLength(100);
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([0, 30001]));
    const [rows] = await shop.database.sql`
      select count(*)::int as coupons, count(distinct user_id)::int as shoppers from marketing.user_coupons`;
    expect(rows).toEqual({ coupons: 100, shoppers: 100 });
    expect((await admin('GET', '')).data.list[0]).toMatchObject({ claimed_count: 100, used_count: 0 });
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });

  test('claims and sends at once keep the total', async () => {
    const { id } = await create({ total_count: 30, per_limit: 1 });
    const shoppers = await buyers(40);
    await Promise.all([
      ...shoppers.map(({ token }) => claim(id, token)),
      ...[10, 10, 10].map((count) => admin('POST', `/${id}/send`, { count })),
    ]);
    expect((await admin('GET', '')).data.list[0].claimed_count).toBe(30);
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });
});

describe('other packages', () => {
  test('give coupons away within the same limits, and find them by id and by name', async () => {
    const [ann, bob] = (await buyers(2)).map(({ id }) => id) as [number, number];
    const old = await create({ name: 'Monthly' });
    const one = await create({ name: 'Monthly', total_count: 3, per_limit: 2, target_type: 'new_user' });
    const { runtime } = shop.server;
    const now = new Date();
    const row = (user_id: number, coupon_id = one.id) => ({ user_id, coupon_id, source: 'vip' });
    const rows = [row(ann), row(bob, 999), row(ann), row(ann), row(bob), row(bob), row(bob, old.id)];
    const outcomes = await runtime.sql.begin((tx) => couponIssuer.issue(tx, rows, now));
    expect(outcomes.map((outcome) => (outcome instanceof Error ? outcome.message : 'issued'))).toEqual([
      ...['issued', 'Coupon not found', 'issued', 'You have claimed this coupon 2 times already'],
      ...['issued', 'All coupons have been claimed', 'issued'],
    ]);
    const issued = await shop.database
      .sql`select id, user_id, coupon_id, source from marketing.user_coupons order by id`;
    const byId = new Map(issued.map(({ id, ...rest }) => [id, rest]));
    for (const [index, outcome] of outcomes.entries())
      if (!(outcome instanceof Error)) expect(byId.get(outcome)).toEqual(rows[index]);
    expect(byId.size).toBe(4);
    expect(await couponIssuer.withNames(runtime.sql, ['Monthly', 'None'])).toEqual(new Map([['Monthly', one.id]]));
    await admin('DELETE', `/${one.id}`);
    expect(await couponIssuer.named(runtime.sql, [old.id, one.id])).toEqual(new Map([[old.id, 'Monthly']]));
    expect(await couponIssuer.withNames(runtime.sql, ['Monthly'])).toEqual(new Map([['Monthly', old.id]]));
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });

  test('say who has a member level: only these shoppers are sent or claim its coupons', async () => {
    const ids = (await buyers(4)).map(({ id }) => id);
    const now = new Date();
    const ofLevel = new Map([3, 2, 2, 2].map((level, index) => [ids[index]!, level]));
    const levels = () => ({
      levelsOf: async () => ofLevel,
      membersWith: async (_sql: unknown, { levelId, after }: { levelId: number; after: number }) =>
        ids.filter((id) => ofLevel.get(id) === levelId && id > after),
    });
    const { id } = await create({ target_type: 'vip_level', target_value: '2', per_limit: 1 });
    const sending = (count: number) =>
      shop.server.runtime.sql.begin((tx) => sendCoupon(tx, { id, count }, { now, levels }));
    expect([await sending(2), await sending(5), await sending(5)]).toEqual([2, 1, 0]);
    const owners = await shop.database.sql`select user_id from marketing.user_coupons order by id`;
    expect(owners.map(({ user_id }) => user_id)).toEqual(ids.slice(1));
    const claims = ids.map((user_id) => ({ user_id, coupon_id: id, source: 'claim' }));
    await admin('PUT', `/${id}`, { per_limit: 2 });
    const outcomes = await shop.server.runtime.sql.begin((tx) => issueCoupons(tx, claims, { now, levels }));
    expect(outcomes.map((outcome) => outcome instanceof Error)).toEqual([true, false, false, false]);
  });
});
