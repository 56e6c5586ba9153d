import { runJobsOnce } from '@tradepost/app';
import { openLog } from '@tradepost/runtime';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { dispatchEvents } from '@tradepost/testing/dispatch-events';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

type Shopper = Awaited<ReturnType<Shop['shopper']>>;
let shop: Shop;
let staff: string;
beforeAll(async () => {
  shop = await openShop();
  staff = await shop.server.tokens.issue({
    role: 'admin',
    id: 1,
    perms: ['vip:view', 'vip:edit', 'order:ship', 'order:refund'],
  });
});
afterAll(async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
  await shop.close();
});

const admin = (method: string, path: string, body?: object) =>
  shop.call(method, `/admin/api/vip/${path}`, { token: staff, ...(body ? { body } : {}) });
const get = async ({ token }: Pick<Shopper, 'token'>, path: string) =>
  (await shop.call('GET', `/api/v1/${path}`, { token })).data;
const post = ({ token }: Pick<Shopper, 'token'>, path: string, body?: object) =>
  shop.call('POST', `/api/v1/${path}`, { token, ...(body ? { body } : {}) });

/** Adds a row whose POST answers nothing, and answers it as the list shows it. */
async function add(kind: string, body: object) {
  expect(await admin('POST', kind, body)).toMatchObject({ code: 0, data: null });
  const { data } = await admin('GET', `${kind}?size=1000`);
  return data.list.toSorted((a: { id: number }, b: { id: number }) => b.id - a.id)[0];
}
const addPrice = async (body: object) => (await admin('POST', 'sku-prices', body)).data;

async function buy(buyer: Shopper, sku_ids: readonly number[]) {
  const items = sku_ids.map((sku_id) => ({ sku_id }));
  const { data, message } = await post(buyer, 'orders', { address_id: buyer.address_id, items });
  if (!data) throw new Error(message);
  return data as { id: number; total_amount: number };
}
async function buyAndPay(buyer: Shopper, price: number) {
  const { sku_ids } = await insertProduct(shop.database, { price });
  const order = await buy(buyer, sku_ids);
  expect((await post(buyer, `orders/${order.id}/pay`)).code).toBe(0);
  return order;
}
/** Moves the end of the membership to the past, as time does. */
const expire = ({ id }: Shopper) =>
  shop.database.sql.begin(async (tx) => {
    await tx`update vip.purchases set starts_at = starts_at - interval '1 year', ends_at = ends_at - interval '1 year' where user_id = ${id}`;
    await tx`update vip.assets set vip_start_at = vip_start_at - interval '1 year', vip_end_at = vip_end_at - interval '1 year'
           where user_id = ${id}`;
  });

describe('the back office', () => {
  test('both names of each field are accepted and answered, a missing status is 1, and a change may be partial', async () => {
    const plan = await add('plans', { name: 'Year', months: 12, price: 199 });
    const same = { name: 'Year', months: 12, duration_months: 12, price: 199, renew_price: 0, status: 1 };
    expect(plan).toMatchObject(same);
    expect(await admin('PUT', `plans/${plan.id}`, { duration_months: 6, renew_price: '150', id: 9 })).toMatchObject({
      code: 0,
      data: null,
    });
    expect((await admin('GET', `plans/${plan.id}`)).data).toMatchObject({
      ...same,
      months: 6,
      duration_months: 6,
      renew_price: 150,
    });

    const level = await add('levels', {
      name: 'Elite',
      growth_threshold: 900_000,
      benefit_json: { discount_rate: 0.85 },
    });
    const shown = {
      growth_min: 900_000,
      growth_threshold: 900_000,
      discount_rate: 0.85,
      benefit_json: { discount_rate: 0.85 },
    };
    expect(level).toMatchObject({ name: 'Elite', ...shown, sort: 0, status: 1 });
    expect(
      (await admin('PUT', `levels/${level.id}`, { growth_min: 910_000, discount_rate: 0.8, status: 0 })).code,
    ).toBe(0);
    expect((await admin('GET', 'levels?size=200&status=0')).data.list).toEqual([
      expect.objectContaining({
        id: level.id,
        growth_min: 910_000,
        growth_threshold: 910_000,
        discount_rate: 0.8,
        status: 0,
      }),
    ]);

    const rule = await add('coupon-rules', { name: 'Monthly', coupon_name: 'Nowhere', monthly_limit: 3 });
    const ruled = { coupon_id: 0, coupon_name: 'Nowhere', plan_id: 0, level_id: 0, claim_mode: 'manual' };
    expect(rule).toMatchObject({ ...ruled, monthly_limit: 3, monthly_quota: 3, status: 1 });
    expect((await admin('PUT', `coupon-rules/${rule.id}`, { monthly_quota: 4, status: 0 })).code).toBe(0);
    expect((await admin('GET', 'coupon-rules')).data.list[0]).toMatchObject({
      ...ruled,
      monthly_limit: 4,
      monthly_quota: 4,
      status: 0,
    });
    for (const path of [`plans/${plan.id}`, `levels/${level.id}`, `coupon-rules/${rule.id}`]) {
      expect(await admin('DELETE', path)).toMatchObject({ code: 0, data: null });
      expect((await admin('DELETE', path)).code).toBe(404);
    }
  });

  test('member prices: the row is answered, all filters work, and size 1000 is served', async () => {
    const { id: product_id, sku_ids } = await insertProduct(shop.database, { stocks: [1, 1] });
    const level = await add('levels', { name: 'Filter', growth_min: 800_000 });
    const key = { product_id, sku_id: sku_ids[0], level_id: level.id };
    const row = await addPrice({ ...key, vip_price: 9.9 });
    expect(row).toMatchObject({ ...key, level_name: 'Filter', vip_price: 9.9, vip_discount_rate: 0, status: 1 });
    const whole = await addPrice({ ...key, sku_id: 0, vip_discount_rate: 0.8, status: 0 });
    const ids = async (query: string) =>
      (await admin('GET', `sku-prices?size=1000&${query}`)).data.list.map((one: { id: number }) => one.id);
    expect(await ids(`product_id=${product_id}`)).toEqual([whole.id, row.id]);
    expect(await ids(`product_id=${product_id}&sku_id=${sku_ids[0]}`)).toEqual([row.id]);
    expect(await ids(`level_id=${level.id}&status=0`)).toEqual([whole.id]);
    expect(await ids(`level_id=${level.id}&status=-1&sku_id=`)).toEqual([whole.id, row.id]);
    expect((await admin('GET', 'sku-prices?size=1000')).data.size).toBe(1000);

    expect((await admin('PUT', `sku-prices/${row.id}`, { ...key, vip_price: 8.5, status: 1 })).code).toBe(0);
    expect((await admin('GET', `sku-prices?product_id=${product_id}&status=1`)).data.list[0].vip_price).toBe(8.5);
    const refused = async (method: string, path: string, body: object) => (await admin(method, path, body)).message;
    expect(await refused('POST', 'sku-prices', { ...key, vip_price: 7 })).toBe(
      'This SKU has a price for this level already',
    );
    expect(await refused('PUT', `sku-prices/${whole.id}`, key)).toBe('This SKU has a price for this level already');
    expect(await refused('PUT', `sku-prices/${row.id}`, { vip_price: 0 })).toContain('vip_price');
    expect(await refused('POST', 'sku-prices', { ...key, vip_price: 0 })).toContain('vip_price');
    expect(await refused('POST', 'sku-prices', { ...key, sku_id: 999_999, vip_price: 1 })).toContain('sku_id');
    expect(await refused('POST', 'sku-prices', { ...key, sku_id: 0, product_id: 999_999, vip_price: 1 })).toContain(
      'product_id',
    );
    expect(
      await refused('POST', 'sku-prices', { ...key, sku_id: sku_ids[1], level_id: 999_999, vip_price: 1 }),
    ).toContain('level_id');
    expect((await admin('DELETE', `levels/${level.id}`)).message).toBe(
      'The level has member prices: delete them first',
    );
    const missing: [string, object, string][] = [
      ['plans', { name: 'Plan', price: 1 }, 'months: 缺少'],
      ['levels', { name: 'Level' }, 'growth_min: 缺少'],
      ['coupon-rules', { name: 'Rule', coupon_name: ' ' }, 'coupon_name: 缺少'],
    ];
    for (const [path, fields, message] of missing)
      expect(
        await shop.call('POST', `/admin/api/vip/${path}`, { token: staff, body: fields, lang: 'zh-CN' }),
      ).toMatchObject({ code: 400, message });
    expect(await refused('POST', 'coupon-rules', { name: 'Rule', coupon_id: 999_999 })).toBe(
      'coupon_id: no such coupon',
    );
    // Ids beyond 32 bits are only unknown.
    const large = 2 ** 40;
    expect(await refused('POST', 'sku-prices', { ...key, sku_id: large, vip_price: 1 })).toContain('sku_id');
    for (const field of ['plan_id', 'level_id'])
      expect(await refused('POST', 'coupon-rules', { name: 'Rule', coupon_name: 'X', [field]: large })).toContain(
        field,
      );
    // One of many concurrent creations of the same row succeeds.
    const body = { ...key, sku_id: sku_ids[1], vip_price: 5 };
    const codes = await Promise.all(
      Array.from({ length: 8 }, async () => (await admin('POST', 'sku-prices', body)).code),
    );
    expect(codes.toSorted((a, b) => a - b)).toEqual([0, ...Array(7).fill(500)]);
    for (const { id } of (await admin('GET', `sku-prices?product_id=${product_id}`)).data.list)
      expect((await admin('DELETE', `sku-prices/${id}`)).code).toBe(0);
    expect((await admin('DELETE', `levels/${level.id}`)).code).toBe(0);
  });
});

test('growth follows payments and refunds of members and others, once for each event, and gives the level', async () => {
  const buyer = await shop.shopper();
  const levels = [
    await add('levels', { name: 'Bronze', growth_min: 10 }),
    await add('levels', { name: 'Iron', growth_min: 100 }),
  ];
  expect(await get(buyer, 'vip/profile')).toEqual({ is_vip: false, level_name: '', growth_value: 0, expire_at: null });
  const first = await buyAndPay(buyer, 12_99);
  await buyAndPay(buyer, 90_50);
  await buyAndPay(buyer, 50);
  await dispatchEvents(shop);
  expect(await get(buyer, 'vip/profile')).toMatchObject({ level_name: 'Iron', growth_value: 102 });
  const { list, total } = await get(buyer, 'vip/growth/logs?size=1');
  expect([total, list.length]).toEqual([2, 1]);
  expect(list[0]).toMatchObject({ user_id: buyer.id, event_type: 'order_paid', growth_delta: 90, balance_after: 102 });

  const { data: detail } = await shop.call('GET', `/api/v1/orders/${first.id}`, { token: buyer.token });
  const item = { order_item_id: detail.items[0].id, qty: 1 };
  const applied = await post(buyer, `orders/${first.id}/after-sales`, {
    case_type: 'return',
    reason: 'broken',
    items: [item],
  });
  const [row] = await shop.database.sql<{ data: Record<string, unknown> }[]>`
    select data from runtime.outbox where name = 'after_sale.applied' and data ->> 'order_id' = ${String(first.id)}`;
  expect(applied.code).toBe(0);
  // The refund of the case, twice, and all earlier events again, as after a restored backup.
  const refund = { ...row!.data, refund_amount: 12_99 };
  for (let n = 0; n < 2; n += 1)
    await shop.database.sql`
      insert into runtime.outbox (name, subject, data, occurred_at)
      values ('after_sale.refunded', ${`order:${first.id}`}, ${shop.database.sql.json(refund as never)}, now())`;
  await shop.database.sql`
    insert into runtime.outbox (name, subject, data, occurred_at)
    select name, subject, data, now() from runtime.outbox where name = 'order.paid'`;
  await dispatchEvents(shop);
  expect(await get(buyer, 'vip/profile')).toMatchObject({ level_name: 'Bronze', growth_value: 90 });
  expect((await get(buyer, 'vip/growth/logs')).list[0]).toMatchObject({
    event_type: 'order_refund',
    growth_delta: -12,
    balance_after: 90,
  });

  // A cancelled paid order takes back what is left of its growth, and no growth is below zero.
  await shop.database.sql`
    insert into runtime.outbox (name, subject, data, occurred_at)
    select 'order.cancelled', subject, data, now() from runtime.outbox
    where name = 'order.paid' and data ->> 'user_id' = ${String(buyer.id)}`;
  await dispatchEvents(shop);
  expect(await get(buyer, 'vip/profile')).toMatchObject({ level_name: '', growth_value: 0 });
  // A change of the levels applies at once.
  await admin('PUT', `levels/${levels[0].id}`, { growth_min: 0 });
  // A shopper who has never bought has the level of no growth too.
  expect(await get(await shop.shopper(), 'vip/profile')).toMatchObject({ level_name: 'Bronze', growth_value: 0 });
  expect((await get(buyer, 'vip/profile')).level_name).toBe('Bronze');
  for (const { id } of levels) await admin('DELETE', `levels/${id}`);
});

test('an order that is refunded in small parts keeps as little growth as one that is refunded at once', async () => {
  const buyer = await shop.shopper();
  const { sku_ids } = await insertProduct(shop.database, { price: 99 });
  await post(buyer, 'cart/add', { sku_id: sku_ids[0], qty: 3 });
  const { id } = await buy(buyer, sku_ids);
  await post(buyer, `orders/${id}/pay`);
  const {
    data: { items },
  } = await shop.call('GET', `/api/v1/orders/${id}`, { token: buyer.token });
  const refundOne = async () => {
    const body = { case_type: 'return', reason: 'broken', items: [{ order_item_id: items[0].id, qty: 1 }] };
    const { data } = await post(buyer, `orders/${id}/after-sales`, body);
    const move = (action: string, fields: object = {}) =>
      shop.call('POST', `/admin/api/after-sales/${data.id}/${action}`, { token: staff, body: fields });
    await move('audit', { approve: true });
    await post(buyer, `after-sales/${data.id}/return-shipments`, { tracking_no: 'B1' });
    for (const action of ['receive', 'refund', 'complete']) expect((await move(action)).code).toBe(0);
  };
  await dispatchEvents(shop);
  // 0.99 of 2.97. The refunds after it are read together.
  await refundOne();
  await dispatchEvents(shop);
  expect(await get(buyer, 'vip/profile')).toMatchObject({ growth_value: 2 });
  await refundOne();
  await refundOne();
  await dispatchEvents(shop);
  const { list } = await get(buyer, 'vip/growth/logs');
  expect(list.map((row: { growth_delta: number }) => row.growth_delta)).toEqual([-1, -1, 2]);
  expect(await get(buyer, 'vip/profile')).toMatchObject({ growth_value: 0 });
});

test('a membership extends from its end by calendar months, and costs its renewal price while it is active', async () => {
  const buyer = await shop.shopper();
  const plan = await add('plans', { name: 'Half', months: 6, price: 50, renew_price: 40 });
  const open = () => post(buyer, 'vip/open', { plan_id: plan.id });
  const first = await open();
  expect(first).toMatchObject({
    code: 0,
    data: { user_id: buyer.id, current_plan_id: plan.id, current_level_id: 0, growth_value: 0, status: 1 },
  });
  expect(first.data).not.toHaveProperty('payment');
  const second = (await open()).data;
  expect(second.vip_start_at).toBe(first.data.vip_start_at);
  const months = (from: string, to: string) =>
    (Number(to.slice(0, 4)) - Number(from.slice(0, 4))) * 12 + Number(to.slice(5, 7)) - Number(from.slice(5, 7));
  expect([
    months(first.data.vip_start_at, first.data.vip_end_at),
    months(first.data.vip_start_at, second.vip_end_at),
  ]).toEqual([6, 12]);
  expect(await get(buyer, 'vip/profile')).toMatchObject({ is_vip: true, expire_at: second.vip_end_at });
  const paid = await shop.database
    .sql`select amount::int, status from vip.purchases where user_id = ${buyer.id} order by id`;
  expect(paid.map((row) => [row.amount, row.status])).toEqual([
    [5000, 'paid'],
    [4000, 'paid'],
  ]);
  // Many at once follow each other, up to the bound.
  const ten = await add('plans', { name: 'Ten years', months: 120, price: 0 });
  const free = await Promise.all(Array.from({ length: 4 }, () => post(buyer, 'vip/open', { plan_id: ten.id })));
  expect(free.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([0, 30001, 30001, 30001]);
  expect(free.find(({ code }) => code)!.message).toBe('The membership would end more than 20 years from now');

  await expire(buyer);
  await expire(buyer);
  for (let years = 0; years < 12; years += 1) await expire(buyer);
  expect(await get(buyer, 'vip/profile')).toMatchObject({ is_vip: false, expire_at: null });
  await shop.database.sql`select graphile_worker.add_job('vip.sweep', '{}')`;
  await runJobsOnce({ config: shop.server.runtime.config, log: openLog({ level: 'silent' }) });
  expect((await shop.database.sql`select status from vip.assets where user_id = ${buyer.id}`)[0]!.status).toBe(0);
  await admin('PUT', `plans/${plan.id}`, { status: 0 });
  expect(await open()).toMatchObject({ code: 30001, message: 'The plan is not available' });
});

test('an active member pays member prices: a quote equals the order, and the best rule counts', async () => {
  const [member, other] = [await shop.shopper(), await shop.shopper()];
  const level = await add('levels', { name: 'Member', growth_min: 0 });
  const plan = await add('plans', { name: 'Free', months: 1, price: 0 });
  const exact = await insertProduct(shop.database, { price: 1290, stocks: [9, 9] });
  const rate = await insertProduct(shop.database, { price: 335 });
  const high = await insertProduct(shop.database, { price: 500 });
  const level_id = level.id;
  // The SKU takes precedence over the product, also when it is not lower.
  await addPrice({ product_id: exact.id, sku_id: 0, level_id, vip_price: 5 });
  await addPrice({ product_id: exact.id, sku_id: exact.sku_ids[0], level_id, vip_price: 10 });
  await addPrice({ product_id: rate.id, level_id, vip_discount_rate: 0.9 });
  await addPrice({ product_id: high.id, sku_id: high.sku_ids[0], level_id, vip_price: 6 });
  await addPrice({ product_id: high.id, sku_id: 0, level_id, vip_price: 1 });
  const skus = [...exact.sku_ids, ...rate.sku_ids, ...high.sku_ids];
  const quote = async (of: Shopper) =>
    (await post(of, 'orders/quote', { items: skus.map((sku_id) => ({ sku_id })) })).data;
  const full = 12.9 + 12.9 + 3.35 + 5;
  expect((await quote(member)).total_amount).toBeCloseTo(full);
  expect((await post(member, 'vip/open', { plan_id: plan.id })).data.current_level_id).toBe(level_id);

  const quoted = await quote(member);
  // 3.35 x 0.9 = 3.015, rounded to 3.02.
  expect(quoted.items.map((line: { payable_amount: number }) => line.payable_amount)).toEqual([10, 5, 3.02, 5]);
  expect(quoted.discounts).toEqual([
    { type: 'member', type_label: 'Member Price', name: 'Member', amount: 11.13, discount: 11.13 },
  ]);
  const order = await buy(member, skus);
  const { data: placed } = await shop.call('GET', `/api/v1/orders/${order.id}`, { token: member.token });
  expect(placed.amount_breakdown).toEqual(quoted.amount_breakdown);
  expect(placed.discounts).toEqual(quoted.discounts);
  expect((await quote(other)).total_amount).toBeCloseTo(full);
  // In one batch, members and others each get their own price.
  const totals = await Promise.all(
    [member, other, member, other].map(async (of) => (await buy(of, rate.sku_ids)).total_amount),
  );
  expect(totals).toEqual([3.02, 3.35, 3.02, 3.35]);
  await expire(member);
  expect((await quote(member)).total_amount).toBeCloseTo(full);
});

test('a deleted account leaves no membership and no growth, and later events write none', async () => {
  const buyer = await shop.shopper();
  const plan = await add('plans', { name: 'Gone', months: 1, price: 0 });
  await post(buyer, 'vip/open', { plan_id: plan.id });
  await buyAndPay(buyer, 2000);
  const { sql } = shop.database;
  await sql`update identity.shoppers set deleted_at = now(), status = 0, phone = null where id = ${buyer.id}`;
  const left = async () =>
    (
      await sql`select (select count(*)::int from vip.assets where user_id = ${buyer.id}) as assets,
    (select count(*)::int from vip.growth_logs where user_id = ${buyer.id}) as logs`
    )[0];
  await sql`insert into runtime.outbox (name, subject, data, occurred_at)
            values ('shopper.deleted', ${`shopper:${buyer.id}`}, ${sql.json({ user_id: buyer.id })}, now())`;
  await dispatchEvents(shop);
  expect({ ...(await left()) }).toEqual({ assets: 0, logs: 0 });
  await sql`
    insert into runtime.outbox (name, subject, data, occurred_at)
    select name, subject, data, now() from runtime.outbox
    where name = 'order.paid' and data ->> 'user_id' = ${String(buyer.id)}`;
  await dispatchEvents(shop);
  expect({ ...(await left()) }).toEqual({ assets: 0, logs: 0 });
});
