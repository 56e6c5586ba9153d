import { modules, runJobsOnce } from '@tradepost/app';
import { AppError } from '@tradepost/core';
import { type CouponIssuer, couponIssuers, type Module, memberLevels } from '@tradepost/module';
import { openLog } from '@tradepost/runtime';
import { type ModuleShop, openModuleShop } from '@tradepost/testing/module-shop';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { notify, paySecret } from '@tradepost/testing/servers/payment-gateway';
import { insertProduct, type Shop } from '@tradepost/testing/shop';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';

/**
 * Memberships that are paid through a payment provider, and monthly coupons. The coupons are those of a module of this test, because
 * any package may issue them; it has one coupon, with a bound on all pieces.
 */
const issuer: CouponIssuer = {
  async issue(tx, rows) {
    const issued: (number | Error)[] = [];
    for (const { user_id, coupon_id } of rows) {
      const [row] = await tx<{ id: number }[]>`
        insert into issued_coupons (user_id, coupon_id)
        select ${user_id}, ${coupon_id} where (select count(*) from issued_coupons) < 20 returning id`;
      const refusal = { code: 1, en: 'None is left', 'zh-CN': '已领完' };
      issued.push(row?.id ?? new AppError('none_left', refusal));
    }
    return issued;
  },
  named: async (_sql, ids) => new Map(ids.includes(7) ? [[7, 'Ten off']] : []),
  withNames: async (_sql, names) => new Map(names.includes('Ten off') ? [['Ten off', 7]] : []),
};
const couponModule: Module = { name: 'coupons-of-test', open: () => ({ contributions: [couponIssuers.add(issuer)] }) };

let database: TestDatabase;
let shop: ModuleShop;
beforeAll(async () => {
  database = await cloneDatabase();
  await database.sql`create table issued_coupons (id bigint generated always as identity primary key, user_id bigint, coupon_id bigint)`;
  shop = await openModuleShop(database, [couponModule, ...modules], { 'pay.instant': false });
  await shop.runtime.settings.set('pay.sandbox.secret', paySecret);
});
afterAll(async () => {
  expect(await shop.brokenAudits()).toEqual([]);
  await shop.close();
  await database.drop();
});

afterEach(async () => {
  vi.restoreAllMocks();
  await shop.runtime.settings.unset('shop.time_zone');
});

type Buyer = { id: number; token: string };
const call = (method: string, path: string, { token }: Buyer, body?: object) =>
  shop.call(method, `/api/v1/${path}`, { token, ...(body ? { body } : {}) });
async function addPlan(fields: { price: number; months?: number; renew_price?: number }): Promise<number> {
  const { price, months = 1, renew_price = 0 } = fields;
  const [row] = await database.sql<{ id: number }[]>`
    insert into vip.plans (name, months, price, renew_price) values ('Plan', ${months}, ${price}, ${renew_price}) returning id`;
  return row!.id;
}
async function open(plan_id: number, buyer?: Buyer) {
  const by = buyer ?? (await shop.shopper());
  const { code, data, message } = await call('POST', 'vip/open', by, { plan_id });
  if (code !== 0) throw new Error(message);
  return { ...by, asset: data, payment: data.payment };
}
const pay = (payment_no: string, amount: number, more: object = {}) =>
  notify(shop as unknown as Shop, { payment_no, amount, trade_no: `T-${payment_no}`, ...more });
const profile = async (buyer: Buyer) => (await call('GET', 'vip/profile', buyer)).data;
const moneyOf = async ({ id }: Buyer) => {
  const rows = await database.sql`
    select m.status, r.reason, r.status as refund from vip.purchases p
    join orders.payments m on m.subject = 'vip.purchase' and m.subject_id = p.id
    left join orders.refunds r on r.payment_id = m.id where p.user_id = ${id} order by m.id`;
  return rows.map(({ status, reason, refund }) => [status, reason, refund].filter(Boolean).join(' '));
};

test('a membership begins with the notice of its payment, once, however often the notice comes', async () => {
  const plan = await addPlan({ price: 1900 });
  const buyer = await open(plan);
  expect(buyer.asset).toMatchObject({ user_id: buyer.id, current_plan_id: 0, vip_end_at: null, status: 0 });
  const { payment_no, pay_url } = buyer.payment;
  expect(buyer.payment).toMatchObject({
    amount: 19,
    currency: 'CNY',
    payment_no: expect.stringMatching(/^VIP\d{23}$/),
  });
  expect(pay_url).toBe(`${shop.url}/pay/sandbox/${payment_no}`);
  const page = await fetch(pay_url);
  expect([page.status, (await page.text()).includes('19.00 CNY')]).toEqual([200, true]);
  expect((await open(plan, buyer)).payment.payment_no).toBe(payment_no);
  expect(await profile(buyer)).toMatchObject({ is_vip: false });

  expect((await pay(payment_no, 18)).message).toBe('Amount or currency differ from the payment');
  expect((await pay(payment_no, 19, { currency: 'USD' })).code).toBe(409);
  const forged = await notify(
    shop as unknown as Shop,
    { payment_no, amount: 19 },
    { secret: 'another secret of someone' },
  );
  expect(forged.code).toBe(403);
  expect(await profile(buyer)).toMatchObject({ is_vip: false });
  const answers = await Promise.all(Array.from({ length: 12 }, () => pay(payment_no, 19)));
  expect(answers.map(({ data }) => data)).toEqual(Array(12).fill({ received: true, payment_no, status: 'succeeded' }));
  expect((await profile(buyer)).is_vip).toBe(true);
  expect(await moneyOf(buyer)).toEqual(['succeeded']);
  const [row] = await database.sql`select months from vip.assets where user_id = ${buyer.id}`;
  expect(row!.months).toBe(1);
  const [event] = await database.sql`
    select count(*)::int as n from runtime.outbox where name = 'vip.opened' and data ->> 'user_id' = ${String(buyer.id)}`;
  expect(event!.n).toBe(1);
});

test('late and double payments, and those of a deleted account, are refunded by the job of all refunds', async () => {
  const plan = await addPlan({ price: 500 });
  const [late, twice, gone] = [await open(plan), await open(plan), await open(plan)];
  await database.sql`update vip.purchases set expires_at = now() - interval '1 second' where user_id = ${late.id}`;
  expect((await pay(late.payment.payment_no, 5)).data.status).toBe('refunding');
  await pay(twice.payment.payment_no, 5);
  expect((await pay(twice.payment.payment_no, 5, { trade_no: 'SECOND' })).data.status).toBe('refunding');
  await database.sql`delete from vip.assets where user_id = ${gone.id}`;
  await database.sql`update vip.purchases set status = 'cancelled' where user_id = ${gone.id}`;
  expect((await pay(gone.payment.payment_no, 5)).data.status).toBe('refunding');
  await runJobsOnce({ config: shop.runtime.config, log: openLog({ level: 'silent' }) });
  expect(await moneyOf(late)).toEqual(['refunded expired succeeded']);
  expect(await moneyOf(twice)).toEqual(['succeeded', 'refunded paid_twice succeeded']);
  expect(await moneyOf(gone)).toEqual(['refunded cancelled succeeded']);
  expect([(await profile(late)).is_vip, (await profile(twice)).is_vip]).toEqual([false, true]);
});

test('a failed payment can be repeated, a new price closes the open one, and orders are in the same batch', async () => {
  const plan = await addPlan({ price: 700 });
  const buyer = await open(plan);
  expect((await pay(buyer.payment.payment_no, 7, { status: 'failed' })).data.status).toBe('failed');
  const again = await open(plan, buyer);
  expect(again.payment.payment_no).not.toBe(buyer.payment.payment_no);
  await database.sql`update vip.plans set price = 800 where id = ${plan}`;
  const second = await open(plan, buyer);
  expect(second.payment.amount).toBe(8);
  expect((await pay(again.payment.payment_no, 7)).data.status).toBe('refunding');

  const { sku_ids } = await insertProduct(database, { price: 1290 });
  const shopper = await shop.shopper();
  const order = (
    await call('POST', 'orders', shopper, { address_id: shopper.address_id, items: [{ sku_id: sku_ids[0] }] })
  ).data;
  const opened = await shop.call('POST', '/api/pay/create', {
    token: shopper.token,
    body: { order_id: order.id, provider: 'sandbox' },
  });
  const both = await Promise.all([
    pay(second.payment.payment_no, 8),
    pay(opened.data.payment_no, 12.9),
    pay('VIP1', 8),
    pay('PAY1', 8),
  ]);
  expect(both.map(({ code }) => code)).toEqual([0, 0, 404, 404]);
  // The transaction of an order cannot pay a membership, and the other way round.
  const more = await open(plan, buyer);
  expect(
    (await pay(more.payment.payment_no, more.payment.amount, { trade_no: `T-${opened.data.payment_no}` })).code,
  ).toBe(409);
  const rows = await database.sql`select outcome from orders.payment_notices where outcome = 'trade_conflict'`;
  expect(rows).toHaveLength(1);
  await runJobsOnce({ config: shop.runtime.config, log: openLog({ level: 'silent' }) });
});

test('without a payment provider nothing is opened', async () => {
  const plan = await addPlan({ price: 700 });
  await shop.runtime.settings.set('pay.sandbox.secret', '');
  const refused = await call('POST', 'vip/open', await shop.shopper(), { plan_id: plan });
  expect(refused).toMatchObject({ code: 30001, data: null, message: 'The shop can not take payments at the moment' });
  await shop.runtime.settings.set('pay.sandbox.secret', paySecret);
});

test('monthly coupons: their list, each refusal, and exact quotas under many claims at once', async () => {
  const { sql } = database;
  const [silver] = await sql<
    { id: number }[]
  >`insert into vip.levels (name, growth_threshold) values ('Silver', 0) returning id`;
  const [gold] = await sql<
    { id: number }[]
  >`insert into vip.levels (name, growth_threshold) values ('Gold', 100) returning id`;
  const plan = await addPlan({ price: 0 });
  const [member, other] = [await open(plan), await shop.shopper()];
  const rule = async (fields: object) => {
    const row = { name: 'Rule', coupon_id: 7, coupon_name: 'Old name', ...fields };
    const [made] = await sql<{ id: number }[]>`insert into vip.coupon_rules ${sql(row as never)} returning id`;
    return made!.id;
  };
  const three = await rule({ monthly_quota: 3, level_id: silver!.id, plan_id: plan });
  const byName = await rule({ coupon_id: 0, coupon_name: 'Ten off', monthly_quota: 50 });
  const unknown = await rule({ coupon_id: 0, coupon_name: 'Nowhere' });
  const ofGold = await rule({ level_id: gold!.id });
  const ofOther = await rule({ plan_id: 99 });
  const off = await rule({ status: 0 });
  const none = await rule({ monthly_quota: 0 });
  const list = async (of: Buyer) => (await call('GET', 'vip/coupons/monthly', of)).data;
  expect(await list(other)).toEqual([]);
  const shown = (rule_id: number, coupon_name: string, monthly_limit: number, claimed = 0) => ({
    ...{ rule_id, name: 'Rule', coupon_name, claimed, monthly_limit },
  });
  expect(await list(member)).toEqual([
    ...[shown(three, 'Ten off', 3), shown(byName, 'Ten off', 50), shown(unknown, 'Nowhere', 1)],
    shown(none, 'Ten off', 0),
  ]);
  const claim = (of: Buyer, id: number) => call('POST', `vip/coupons/monthly/${id}/claim`, of);
  const refusal = async (of: Buyer, id: number) => {
    const { code, message } = await claim(of, id);
    expect(code).toBe(30001);
    return message;
  };
  expect(await refusal(other, three)).toBe('Only active members can claim this coupon');
  expect(await refusal(member, off)).toBe('The coupon is not available');
  expect(await refusal(member, 999_999)).toBe('The coupon is not available');
  expect(await refusal(member, ofOther)).toBe('The coupon is for another plan');
  expect(await refusal(member, ofGold)).toBe('The coupon is for another level');
  expect(await refusal(member, none)).toBe('The coupons of this month are used up');
  expect(await refusal(member, unknown)).toBe('The rule has no coupon at the moment');

  const answers = await Promise.all(Array.from({ length: 20 }, () => claim(member, three)));
  expect(answers.filter(({ code }) => code === 0)).toHaveLength(3);
  expect(await refusal(member, three)).toBe('The coupons of this month are used up');
  // The issuer has 20 pieces. A refused issue does not count as a claim.
  const rest = await Promise.all(Array.from({ length: 30 }, () => claim(member, byName)));
  expect(rest.filter(({ code }) => code === 0)).toHaveLength(17);
  expect(await refusal(member, byName)).toBe('The coupon can not be issued: None is left');
  expect((await list(member)).slice(0, 2)).toEqual([shown(three, 'Ten off', 3, 3), shown(byName, 'Ten off', 50, 17)]);
  expect((await sql`select count(*)::int as n from issued_coupons where user_id = ${member.id}`)[0]!.n).toBe(20);
  // The next month begins anew.
  await sql`update vip.monthly_claims set month = 200001`;
  expect((await list(member))[0].claimed).toBe(0);
});

test('the month of a monthly coupon is that of the zone of the shop, also for many claims at its end', async () => {
  const { sql } = database;
  await sql`delete from issued_coupons`;
  const member = await open(await addPlan({ price: 0, months: 120 }));
  const [rule] = await sql<{ id: number }[]>`
    insert into vip.coupon_rules (name, coupon_id, coupon_name, monthly_quota) values ('Zone', 7, '', 2) returning id`;
  const year = new Date().getUTCFullYear() + 1;
  /** Claims at this time, while the shop is in this zone. Returns how many of five concurrent claims were granted. */
  async function claimsAt(time: string, zone: string): Promise<[granted: number, claimed: number]> {
    await shop.runtime.settings.set('shop.time_zone', zone);
    vi.spyOn(shop.runtime, 'now').mockReturnValue(new Date(`${year}-${time}Z`));
    // The first token has expired by then.
    const later = { ...member, token: await shop.tokens.issue({ role: 'user', id: member.id, perms: [] }) };
    const path = `vip/coupons/monthly/${rule!.id}/claim`;
    const answers = await Promise.all(Array.from({ length: 5 }, () => call('POST', path, later)));
    const list: { rule_id: number; claimed: number }[] = (await call('GET', 'vip/coupons/monthly', later)).data;
    return [answers.filter(({ code }) => code === 0).length, list.find(({ rule_id }) => rule_id === rule!.id)!.claimed];
  }
  // 31 March, 23:59:59 in Shanghai; a second later it is April there, and still March in New York.
  expect(await claimsAt('03-31T15:59:59', 'Asia/Shanghai')).toEqual([2, 2]);
  expect(await claimsAt('03-31T16:00:00', 'Asia/Shanghai')).toEqual([2, 2]);
  expect(await claimsAt('03-31T16:00:00', 'America/New_York')).toEqual([0, 2]);
  // New York has summer time in April: midnight is at 04:00 UTC. April has been claimed.
  expect(await claimsAt('04-01T03:59:59', 'America/New_York')).toEqual([0, 2]);
  expect(await claimsAt('05-01T04:00:00', 'America/New_York')).toEqual([2, 2]);
  const rows = await sql<{ month: number; claimed: number }[]>`
    select month, claimed from vip.monthly_claims where rule_id = ${rule!.id} order by month`;
  expect(rows.map(({ month, claimed }) => [month, claimed])).toEqual([
    [year * 100 + 3, 2],
    [year * 100 + 4, 2],
    [year * 100 + 5, 2],
  ]);
});

test('other packages learn who has which level', async () => {
  const plan = await addPlan({ price: 0 });
  const members = [await open(plan), await open(plan), await open(plan)].map(({ id }) => id);
  const opened = modules.find(({ name }) => name === 'vip')!;
  const { contributions = [] } = await opened.open!({
    runtime: shop.runtime,
    service: () => ({}),
    entries: () => [],
  } as never);
  const [{ entry }] = contributions.filter(({ registry }) => (registry as object) === memberLevels) as unknown as [
    { entry: Parameters<typeof memberLevels.add>[0] },
  ];
  const now = new Date();
  const other = await shop.shopper();
  const levels = await entry.levelsOf(database.sql, [...members, other.id], now);
  expect([...levels.keys()].toSorted((a, b) => a - b)).toEqual(members);
  const levelId = levels.get(members[0]!)!;
  const page = await entry.membersWith(database.sql, { levelId, after: members[0]! - 1, limit: 2, now });
  expect(page).toEqual(members.slice(0, 2));
  const later = new Date(now.getTime() + 60 * 86_400_000);
  expect([...(await entry.levelsOf(database.sql, members, later))]).toEqual([]);
});
