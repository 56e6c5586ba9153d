import { auditViolations } from '@tradepost/testing/audit-violations';
import { dispatchEvents } from '@tradepost/testing/dispatch-events';
import { runTask } from '@tradepost/testing/run-task';
import { notify, paySecret } from '@tradepost/testing/servers/payment-gateway';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** One order with a flash-sale line, a full reduction, a coupon, points, and distributors of three levels above its buyer. */
type Buyer = Awaited<ReturnType<Shop['shopper']>>;
type Order = { id: number; total_amount: number; items: { id: number }[] };

let shop: Shop;
let staff: string;
let sku: { flash: number; expensive: number; cheap: number };
let row: number;
let distributor: number;

async function send(method: string, path: string, token: string, body?: unknown) {
  const answer = await shop.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  if (answer.code !== 0) throw new Error(`${method} ${path}: ${answer.code} ${answer.message}`);
  return answer.data;
}

async function startFlashSale(): Promise<void> {
  const product = await insertProduct(shop.database, { price: 2_000 });
  const [flash] = product.sku_ids as [number];
  const [expensive, cheap] = await Promise.all(
    [3_333, 1_001].map(async (price) => (await insertProduct(shop.database, { price })).sku_ids[0]!),
  );
  sku = { flash, expensive: expensive!, cheap: cheap! };
  const times = { start_at: new Date(Date.now() - 3_600_000), end_at: new Date(Date.now() + 3_600_000) };
  const { id } = await send('POST', '/admin/api/seckill/activities', staff, { name: 'Sale', ...times });
  const rows = [{ product_id: product.id, sku_id: flash, activity_price: 9.9, total_stock_limit: 10 }];
  await send('PUT', `/admin/api/seckill/activities/${id}/products`, staff, rows);
  const [made] = await shop.database.sql<{ id: number }[]>`
    select id from activities.activity_products where activity_id = ${id}`;
  row = made!.id;
}

/** Three distributors, each below the one before. Returns the last one. */
async function openChain(): Promise<number> {
  const config = { level: 3, auto_approve: true, require_real_name: false };
  await send('PUT', '/admin/api/admin/api/distribution/config', staff, config);
  let parent_id = 0;
  for (let level = 3; level > 0; level -= 1) {
    const { token } = await shop.shopper();
    const person = { parent_id, real_name: '', id_card: '', phone: '13800000000' };
    parent_id = (await send('POST', '/api/v1/distribution/apply', token, person)).id;
  }
  return parent_id;
}

beforeAll(async () => {
  shop = await openShop();
  staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  await startFlashSale();
  await send('POST', '/admin/api/marketing/full-reduce', staff, { name: 'Big', tiers: [{ min: 50, reduce: 7 }] });
  distributor = await openChain();
});
afterAll(async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
  await shop?.close();
});

/** A customer of the last distributor with 1,000 points, a coupon of 5.00, and the order of 96.72. */
async function orderOf(): Promise<{ buyer: Buyer; order: Order; coupon: number }> {
  const buyer = await shop.shopper();
  const { token, address_id } = buyer;
  await send('POST', '/api/v1/distribution/bind', token, { distributor_id: distributor });
  await send('POST', '/admin/api/points/adjust', staff, { user_id: buyer.id, points: 1_000, remark: 'Welcome' });
  const made = await send('POST', '/admin/api/marketing/coupons', staff, { name: 'Five off', type: 3, discount: 5 });
  await send('POST', `/api/v1/coupons/${made.id}/claim`, token);
  const [{ id: coupon }] = await send('GET', '/api/v1/user/coupons', token);
  const items = [
    { sku_id: sku.flash, activity_product_id: row },
    { sku_id: sku.expensive, activity_product_id: 0 },
    { sku_id: sku.cheap, activity_product_id: 0 },
  ];
  const pieces = [2, 2, 3];
  for (const [index, qty] of pieces.entries()) await send('POST', '/api/v1/cart/add', token, { ...items[index], qty });
  const choices = { items, coupon_ids: [coupon], points_use: 777 };
  const quote = await send('POST', '/api/v1/orders/quote', token, choices);
  const { id } = await send('POST', '/api/v1/orders', token, { address_id, ...choices });
  const order = await send('GET', `/api/v1/orders/${id}`, token);
  for (const shown of [quote, order]) {
    expect(shown).toMatchObject({ goods_amount: 116.49, discount_amount: 19.77, total_amount: 96.72 });
    expect(shown.discounts.map((part: { amount: number }) => part.amount)).toEqual([7, 5, 7.77]);
    expect(shown.items.map((line: { payable_amount: number }) => line.payable_amount)).toEqual([19.8, 53.02, 23.9]);
  }
  return { buyer, order, coupon };
}

/** What the order has moved: the balance and growth of the buyer, sold pieces, the coupon, and the commissions in cents. */
async function stateOf({ id }: Buyer, order: Order, coupon: number) {
  await dispatchEvents(shop);
  const [state] = await shop.database.sql`
    select (select balance from points.accounts where user_id = ${id}) as points,
      coalesce((select growth_value from vip.assets where user_id = ${id}), 0) as growth,
      (select sold_qty from activities.activity_products where id = ${row}) as sold,
      (select status from marketing.user_coupons where id = ${coupon}) as coupon,
      (select array_agg(case status when 'cancelled' then 0 else commission end order by level)
       from distribution.commissions where order_id = ${order.id}) as commissions`;
  return state;
}

/** Returns these numbers of pieces of the lines, and refunds them. */
async function refund({ token }: Buyer, order: Order, pieces: readonly number[]): Promise<void> {
  const items = pieces.flatMap((qty, line) => (qty > 0 ? [{ order_item_id: order.items[line]!.id, qty }] : []));
  const made = { reason: 'Broken', case_type: 'return', items };
  const { id } = await send('POST', `/api/v1/orders/${order.id}/after-sales`, token, made);
  await send('POST', `/admin/api/after-sales/${id}/audit`, staff, { approve: true });
  await send('POST', `/api/v1/after-sales/${id}/return-shipments`, token, { tracking_no: 'B1' });
  for (const action of ['receive', 'refund', 'complete'])
    await send('POST', `/admin/api/after-sales/${id}/${action}`, staff, {});
}

test('an order with all discounts, refunded in three parts, takes back points, growth and commissions to the cent', async () => {
  const { buyer, order, coupon } = await orderOf();
  // What was agreed stays when the sale and the coupon end before the payment.
  await shop.database.sql`update activities.activities set end_at = now() - interval '1 second'`;
  await send('POST', `/api/v1/orders/${order.id}/pay`, buyer.token);
  await shop.database.sql`update activities.activities set end_at = now() + interval '1 hour'`;
  const state = () => stateOf(buyer, order, coupon);
  expect(await state()).toEqual({ points: 223, growth: 96, sold: 2, coupon: 2, commissions: [967, 483, 193] });
  await send('PUT', `/admin/api/orders/${order.id}/ship`, staff, { company: 'SF', tracking_no: 'SF1' });
  // 9.90 of 96.72: 777 x 990 / 9672 points, and commissions on 86.82.
  await refund(buyer, order, [1, 0, 0]);
  expect(await state()).toEqual({ points: 302, growth: 87, sold: 1, coupon: 2, commissions: [868, 434, 173] });
  // 52.34 of 96.72 in all, so 44.38 is left.
  await refund(buyer, order, [0, 1, 2]);
  expect(await state()).toEqual({ points: 643, growth: 44, sold: 1, coupon: 2, commissions: [443, 221, 88] });
  // The completed order earns 44 points, and its commissions are settled.
  await send('POST', `/api/v1/orders/${order.id}/review`, buyer.token, { content: 'Good' });
  expect(await state()).toEqual({ points: 687, growth: 44, sold: 1, coupon: 2, commissions: [443, 221, 88] });
  await refund(buyer, order, [1, 1, 1]);
  expect(await state()).toEqual({ points: 1_000, growth: 0, sold: 0, coupon: 2, commissions: [0, 0, 0] });
  const [left] = await shop.database.sql`
    select sum(total_earnings)::int as earned, sum(available_amount)::int as available from distribution.distributors`;
  expect(left).toEqual({ earned: 0, available: 0 });
});

test('money that arrives after the expiry of an order is refunded, and all that the order used is returned once', async () => {
  const { settings } = shop.server.runtime;
  await settings.set('pay.instant', false);
  await settings.set('pay.sandbox.secret', paySecret);
  const { buyer, order, coupon } = await orderOf();
  const { payment_no } = await send('POST', '/api/pay/create', buyer.token, { order_id: order.id });
  await shop.database.sql`update orders.orders set expires_at = now() - interval '1 second' where id = ${order.id}`;
  const late = () => notify(shop, { payment_no, amount: order.total_amount, trade_no: 'T1' });
  const [first, second] = await Promise.all([late(), late(), runTask(shop, 'orders.expire')]);
  for (const { data } of [first, second]) expect(data.status).toBe('refunding');
  await runTask(shop, 'orders.expire');
  const returned = { points: 1_000, growth: 0, sold: 0, coupon: 1, commissions: [0, 0, 0] };
  expect(await stateOf(buyer, order, coupon)).toEqual(returned);
});
