import { createStaff } from '@tradepost/identity';
import type { Answer } from '@tradepost/testing/client';
import { insertProduct, type Shop } from '@tradepost/testing/shop';
import { pointsType } from '../ledger/points-log.ts';
import { writePoints } from '../ledger/write-points.ts';

type Buyer = Awaited<ReturnType<Shop['shopper']>>;
type Order = { id: number; total: number; items: { id: number; qty: number }[] };

/** Points and orders of a shop over HTTP. */
export async function openPointsShop(shop: Shop) {
  const { sql } = shop.database;
  const staffId = await createStaff(sql, { username: 'clerk', password: 'clerk-secret' });
  const staff = await shop.server.tokens.issue({ role: 'admin', id: staffId, perms: ['*'] });
  let credits = 0;

  const send = async (method: string, path: string, token: string, body: unknown = {}) => {
    const answer = await shop.call(method, path, { token, body });
    if (answer.code !== 0) throw new Error(`${method} ${path}: ${answer.code} ${answer.message}`);
    return answer.data;
  };
  /** Points that were earned at a time. */
  async function credit(userId: number, points: number, at = new Date()): Promise<void> {
    credits += 1;
    const entry = {
      user_id: userId,
      points,
      type: pointsType.reward,
      related_id: 0,
      remark: '',
      key: `test:${credits}`,
    };
    await sql.begin((tx) => writePoints(tx, [entry], at));
  }
  async function buyerWith(points: number): Promise<Buyer> {
    const buyer = await shop.shopper();
    if (points > 0) await credit(buyer.id, points);
    return buyer;
  }
  /** SKUs with these prices in cents. */
  const skusAt = async (...prices: number[]): Promise<number[]> => {
    const products = await Promise.all(
      prices.map((price) => insertProduct(shop.database, { price, stocks: [100_000] })),
    );
    return products.map(({ sku_ids }) => sku_ids[0]!);
  };
  const bodyOf = (skuIds: readonly number[], points_use?: unknown) => ({
    items: skuIds.map((sku_id) => ({ sku_id })),
    ...(points_use === undefined ? {} : { points_use }),
  });
  const quote = (buyer: Buyer, skuIds: readonly number[], points_use?: unknown): Promise<Answer> =>
    shop.call('POST', '/api/v1/orders/quote', { token: buyer.token, body: bodyOf(skuIds, points_use) });
  const place = (buyer: Buyer, skuIds: readonly number[], points_use?: unknown): Promise<Answer> =>
    shop.call('POST', '/api/v1/orders', {
      token: buyer.token,
      body: { address_id: buyer.address_id, ...bodyOf(skuIds, points_use) },
    });
  /** An order of these SKUs, one piece or `qty` pieces each. */
  async function order(
    buyer: Buyer,
    skuIds: readonly number[],
    { points_use, qty = 1, to }: { points_use?: number; qty?: number; to: 'unpaid' | 'paid' | 'shipped' | 'completed' },
  ): Promise<Order> {
    if (qty > 1) for (const sku_id of skuIds) await send('POST', '/api/v1/cart/add', buyer.token, { sku_id, qty });
    const placed = await place(buyer, skuIds, points_use);
    if (placed.code !== 0) throw new Error(placed.message);
    const { id } = placed.data;
    if (to !== 'unpaid') await send('POST', `/api/v1/orders/${id}/pay`, buyer.token);
    if (to === 'shipped' || to === 'completed')
      await send('PUT', `/admin/api/orders/${id}/ship`, staff, { company: 'SF', tracking_no: `SF${id}` });
    if (to === 'completed') await send('POST', `/api/v1/orders/${id}/review`, buyer.token, { content: 'Good' });
    const view = (await shop.call('GET', `/api/v1/orders/${id}`, { token: buyer.token })).data;
    return { id, total: view.total_amount, items: view.items };
  }
  /** Returns pieces of a line and refunds them, up to the end of the case. */
  async function refund(
    buyer: Buyer,
    of: Order,
    { line = 0, qty = 1, amount }: { line?: number; qty?: number; amount?: number } = {},
  ) {
    const items = [{ order_item_id: of.items[line]!.id, qty }];
    const body = { reason: 'Broken', case_type: 'return', items };
    const { id } = await send('POST', `/api/v1/orders/${of.id}/after-sales`, buyer.token, body);
    await send('POST', `/admin/api/after-sales/${id}/audit`, staff, { approve: true });
    await send('POST', `/api/v1/after-sales/${id}/return-shipments`, buyer.token, { company: '', tracking_no: 'B1' });
    await send('POST', `/admin/api/after-sales/${id}/receive`, staff);
    await send('POST', `/admin/api/after-sales/${id}/refund`, staff, amount === undefined ? {} : { amount });
    await send('POST', `/admin/api/after-sales/${id}/complete`, staff);
  }
  const balanceOf = async (buyer: Buyer): Promise<number> =>
    (await shop.call('GET', '/api/v1/points/balance', { token: buyer.token })).data.points;
  /** Type and points of the rows of a shopper, oldest first, without credits of the test. */
  const rowsOf = async (buyer: Buyer): Promise<[number, number][]> => {
    const rows = await sql<{ type: number; points: number }[]>`
      select type, points from points.logs where user_id = ${buyer.id} and type <> ${pointsType.reward} order by id`;
    return rows.map(({ type, points }) => [type, points]);
  };
  return { staff, staffId, send, credit, buyerWith, skusAt, quote, place, order, refund, balanceOf, rowsOf };
}
