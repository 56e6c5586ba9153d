import { auditViolations } from '@tradepost/testing/audit-violations';
import { dispatchEvents } from '@tradepost/testing/dispatch-events';
import { expectFields } from '@tradepost/testing/routes/contract';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

/** What coupons and full reductions take off orders. */
let shop: Shop;
let staff: string;
let sku: number;
beforeAll(async () => {
  shop = await openShop();
  staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  sku = (await insertProduct(shop.database, { price: 3000, stocks: [100_000] })).sku_ids[0]!;
});
afterAll(() => shop?.close());
beforeEach(() => shop.database.sql`truncate marketing.full_reductions`);

type Shopper = Awaited<ReturnType<Shop['shopper']>>;
const send = async (method: string, path: string, token: string, body?: unknown) => {
  const answer = await shop.call(method, path, { token, body });
  expect(`${method} ${path}: ${answer.message}`).toBe(`${method} ${path}: success`);
  return answer.data;
};
/** The id of a coupon that the shopper has claimed. */
async function claimed({ token }: Shopper, fields: Record<string, unknown> = {}): Promise<number> {
  const coupon = { name: 'Ten off', type: 1, discount: 10, ...fields };
  const { id } = await send('POST', '/admin/api/marketing/coupons', staff, coupon);
  await send('POST', `/api/v1/coupons/${id}/claim`, token);
  return (await send('GET', '/api/v1/user/coupons', token))[0].id;
}
const stateOf = async ({ token }: Shopper, id: number) =>
  (await send('GET', '/api/v1/user/coupons', token)).find((row: { id: number }) => row.id === id);
const items = () => [{ sku_id: sku }];
const place = (shopper: Shopper, coupon_ids: unknown, more = {}) =>
  shop.call('POST', '/api/v1/orders', {
    token: shopper.token,
    lang: 'en',
    body: { address_id: shopper.address_id, items: items(), coupon_ids, ...more },
  });
const quote = ({ token }: Shopper, coupon_ids: readonly number[], of = items()) =>
  shop.call('POST', '/api/v1/orders/quote', { token, lang: 'en', body: { items: of, coupon_ids } });
const reduce = (fields: Record<string, unknown>) =>
  shop.call('POST', '/admin/api/marketing/full-reduce', { token: staff, body: { name: 'Big', ...fields } });

describe('coupons of an order', () => {
  test('are used with the order that they make cheaper, as the quote says, and returned when it is cancelled', async () => {
    const shopper = await shop.shopper();
    const id = await claimed(shopper);
    const quoted = (await quote(shopper, [id])).data;
    expect(await stateOf(shopper, id)).toMatchObject({ status: 1 });
    const order = (await place(shopper, [id])).data;
    for (const answer of [quoted, order])
      expect(answer).toMatchObject({
        ...{ goods_amount: 30, discount_amount: 10, total_amount: 20 },
        discounts: [{ type: 'coupon', name: 'Ten off', amount: 10 }],
      });
    expect(await stateOf(shopper, id)).toMatchObject({ status: 2, order_id: order.id, used_at: expect.any(String) });
    expect(await place(shopper, [id])).toMatchObject({ code: 20001, message: expect.stringContaining('coupon_ids') });
    await send('POST', `/api/v1/orders/${order.id}/cancel`, shopper.token);
    expect(await stateOf(shopper, id)).toMatchObject({ status: 1, order_id: null, used_at: null });
    await dispatchEvents(shop);
    // The event of the first order takes nothing from a later one.
    const again = (await place(shopper, [id])).data;
    await dispatchEvents(shop);
    expect(await stateOf(shopper, id)).toMatchObject({ status: 2, order_id: again.id });
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });

  test('are returned as expired when they have ended meanwhile', async () => {
    const shopper = await shop.shopper();
    const id = await claimed(shopper, { end_at: new Date(Date.now() + 60_000).toISOString() });
    const order = (await place(shopper, [id])).data;
    await shop.database.sql`
      with ended as (update marketing.user_coupons set end_at = now() - interval '1 minute' where id = ${id} returning version_id, coupon_id, end_at),
        version as (update marketing.coupon_versions v set end_at = e.end_at from ended e where v.id = e.version_id)
      update marketing.coupons c set end_at = e.end_at from ended e where c.id = e.coupon_id`;
    await send('POST', `/api/v1/orders/${order.id}/cancel`, shopper.token);
    expect(await shop.database.sql`select status, order_id from marketing.user_coupons where id = ${id}`).toEqual([
      { status: 3, order_id: null },
    ]);
  });

  test('are returned once when a paid order is refunded in full before it is shipped', async () => {
    const shopper = await shop.shopper();
    const { token } = shopper;
    const id = await claimed(shopper);
    const order = (await place(shopper, [id])).data;
    await send('POST', `/api/v1/orders/${order.id}/pay`, token);
    const [line] = (await send('GET', `/api/v1/orders/${order.id}`, token)).items;
    const body = { case_type: 'return', reason: 'Changed mind', items: [{ order_item_id: line.id, qty: 1 }] };
    const { id: caseId } = await send('POST', `/api/v1/orders/${order.id}/after-sales`, token, body);
    await send('POST', `/admin/api/after-sales/${caseId}/audit`, staff, { approve: true });
    await send('POST', `/api/v1/after-sales/${caseId}/return-shipments`, token, { tracking_no: 'R1' });
    for (const action of ['receive', 'refund', 'complete'])
      await send('POST', `/admin/api/after-sales/${caseId}/${action}`, staff, {});
    expect(await send('GET', `/api/v1/orders/${order.id}`, token)).toMatchObject({ status: 6 });
    await dispatchEvents(shop);
    expect(await stateOf(shopper, id)).toMatchObject({ status: 1, order_id: null });
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });

  test('that are unknown, foreign, used, expired or not valid yet are refused with 20001 that names them', async () => {
    const [shopper, other] = [await shop.shopper(), await shop.shopper()];
    const foreign = await claimed(other);
    const used = await claimed(shopper);
    await place(shopper, [used]);
    const expired = await claimed(shopper);
    await shop.database.sql`update marketing.user_coupons set end_at = now() - interval '1 hour' where id = ${expired}`;
    const early = await claimed(shopper);
    await shop.database.sql`
      with version as (
        update marketing.coupon_versions set start_at = now() + interval '1 hour'
        where id = (select version_id from marketing.user_coupons where id = ${early}) returning id, start_at
      )
      update marketing.coupons c set start_at = v.start_at from version v where c.version_id = v.id`;
    const texts = new Set<string>();
    for (const id of [999_999, foreign, used, expired, early])
      for (const answer of [await quote(shopper, [id]), await place(shopper, [id])]) {
        expect(answer).toMatchObject({ code: 20001, message: expect.stringContaining(`coupon_ids`) });
        expect(answer.message).toContain(String(id));
        texts.add(answer.message);
      }
    expect(texts.size).toBe(5);
    expect(await place(shopper, Array(21).fill(used))).toMatchObject({ code: 400 });
    for (const none of [undefined, null, []])
      expect((await place(shopper, none)).data).toMatchObject({ discount_amount: 0, discounts: [] });
    await shop.database.sql`update marketing.user_coupons set end_at = null where id = ${expired}`;
  });

  test('above the amount of the order, or worse than others, stay unused', async () => {
    const shopper = await shop.shopper();
    const high = await claimed(shopper, { min_amount: 30.01, discount: 20 });
    expect((await place(shopper, [high])).data).toMatchObject({ discount_amount: 0 });
    const alone = await claimed(shopper, { name: 'Alone', discount: 7 });
    const flat = await claimed(shopper, { name: 'Flat', type: 3, discount: 5, stack_rule: 'cross_type' });
    const rate = await claimed(shopper, { name: 'Rate', type: 2, discount: 0.9, stack_rule: 'cross_type' });
    const worse = await claimed(shopper, { name: 'Rate', type: 2, discount: 0.95, stack_rule: 'cross_type' });
    const chosen = [high, alone, rate, worse, flat];
    const quoted = (await quote(shopper, chosen)).data;
    const order = (await place(shopper, chosen)).data;
    expect(order.discounts).toEqual(quoted.discounts);
    expect(order).toMatchObject({
      ...{ discount_amount: 8, total_amount: 22 },
      discounts: [
        { name: 'Flat', amount: 5 },
        { name: 'Rate', amount: 3 },
      ],
    });
    const states = await Promise.all(chosen.map((id) => stateOf(shopper, id)));
    expect(states.map(({ status }) => status)).toEqual([1, 1, 2, 1, 2]);
  });

  test('are used by one of two orders that are placed at once, also in one batch', async () => {
    for (let round = 0; round < 5; round += 1) {
      const shopper = await shop.shopper();
      const id = await claimed(shopper);
      const answers = await Promise.all(Array.from({ length: 6 }, () => place(shopper, [id])));
      expect(answers.map(({ code }) => code).sort()).toEqual([0, ...Array(5).fill(20001)]);
      const orders = answers.filter(({ code }) => code === 0).map(({ data }) => data.id);
      expect(await stateOf(shopper, id)).toMatchObject({ status: 2, order_id: orders[0] });
    }
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });

  test('that are used and cancelled at once end either way, and never twice', async () => {
    const shopper = await shop.shopper();
    const id = await claimed(shopper);
    let last = (await place(shopper, [id])).data.id;
    for (let round = 0; round < 10; round += 1) {
      const [, next] = await Promise.all([
        shop.call('POST', `/api/v1/orders/${last}/cancel`, { token: shopper.token }),
        place(shopper, [id]),
      ]);
      last = next.code === 0 ? next.data.id : (await place(shopper, [id])).data.id;
    }
    expect(await stateOf(shopper, id)).toMatchObject({ status: 2, order_id: last });
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });
});

describe('full reductions', () => {
  const tiers = [
    { min: 60, reduce: 5 },
    { min: 90, reduce: 10 },
  ];
  const pieces = async (shopper: Shopper, qty: number) => {
    await send('POST', '/api/v1/cart/add', shopper.token, { sku_id: sku, qty });
    return (await quote(shopper, [])).data;
  };

  test('take off the highest tier that an order reaches, add up, and come before coupons', async () => {
    const shopper = await shop.shopper();
    const made = await reduce({ tiers, start_at: '', end_at: null });
    expectFields(made.data, 'id i, type s, name s, start_at t|null, end_at t|null, tiers [], status 0/1, created_at t');
    expect(made.data).toMatchObject({ type: 'full_save', tiers, status: 1 });
    await reduce({ name: 'Later', tiers, start_at: '2040-01-01' });
    await reduce({ name: 'Ended', tiers, end_at: '2020-01-01' });
    await reduce({ name: 'Off', tiers, status: 0 });
    expect(await pieces(shopper, 1)).toMatchObject({ total_amount: 30, discounts: [] });
    expect(await pieces(shopper, 1)).toMatchObject({
      total_amount: 55,
      discounts: [{ type: 'full_reduce', amount: 5 }],
    });
    await reduce({ name: 'Small', tiers: [{ min: 1, reduce: 1 }] });
    // A tenth of 79.00: the coupon sees the price after both reductions.
    const id = await claimed(shopper, { name: 'Rate', type: 2, discount: 0.9 });
    await pieces(shopper, 1);
    const quoted = (await quote(shopper, [id])).data;
    expect(quoted).toMatchObject({
      ...{ goods_amount: 90, total_amount: 71.1 },
      discounts: [
        { type: 'full_reduce', name: 'Big', amount: 10 },
        { type: 'full_reduce', name: 'Small', amount: 1 },
        { type: 'coupon', name: 'Rate', amount: 7.9 },
      ],
    });
    const order = (await place(shopper, [id])).data;
    expect({ discounts: order.discounts, total: order.total_amount }).toEqual({
      ...{ discounts: quoted.discounts, total: quoted.total_amount },
    });
    const chinese = { token: shopper.token, lang: 'zh-CN' };
    const shown = (await shop.call('GET', `/api/v1/orders/${order.id}`, chinese)).data;
    for (const each of [shown, shown.items[0]])
      expect(each.discounts.map((part: { type_label: string }) => part.type_label)).toEqual(['满减', '满减', '优惠券']);
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });

  test('are listed, edited and deleted', async () => {
    const path = '/admin/api/marketing/full-reduce';
    const { id } = (await reduce({ tiers })).data;
    const [row] = (await send('GET', `${path}?keyword=big&status=1&size=1000`, staff)).list;
    await send('PUT', `${path}/${id}`, staff, row);
    expect((await send('GET', path, staff)).list).toEqual([{ ...row, updated_at: expect.any(String) }]);
    await send('PUT', `${path}/${id}`, staff, { status: 0, tiers: [{ min: 2, reduce: 2 }] });
    expect((await send('GET', `${path}?status=0`, staff)).list).toMatchObject([{ id, tiers: [{ min: 2, reduce: 2 }] }]);
    await send('DELETE', `${path}/${id}`, staff);
    for (const method of ['PUT', 'DELETE'])
      expect(await shop.call(method, `${path}/${id}`, { token: staff, body: {} })).toMatchObject({ code: 404 });
  });

  test.each([
    [{ tiers: [] }],
    [{ tiers: [{ min: 10, reduce: 11 }] }],
    [{ tiers: [{ min: 10, reduce: 0 }] }],
    [{ tiers: tiers.toReversed() }],
    [{ tiers: [...tiers, { min: 100, reduce: 9 }] }],
    [{ tiers: Array.from({ length: 21 }, (_, n) => ({ min: n + 1, reduce: n + 1 })) }],
  ])('refuse tiers that do not ascend or take off more than they ask: %j', async (fields) => {
    expect(await reduce(fields)).toMatchObject({ code: 400, message: expect.stringContaining('tiers') });
  });

  test('at most 20 are enabled, also when they are created at once', async () => {
    const answers = await Promise.all(Array.from({ length: 24 }, () => reduce({ tiers })));
    expect(answers.filter(({ code }) => code === 0)).toHaveLength(20);
    expect(answers.filter(({ code }) => code === 409)).toHaveLength(4);
    const { data } = await reduce({ tiers, status: 0 });
    const enable = { token: staff, body: { status: 1 } };
    expect(await shop.call('PUT', `/admin/api/marketing/full-reduce/${data.id}`, enable)).toMatchObject({ code: 409 });
  });
});
