import { setTimeout as sleep } from 'node:timers/promises';
import type { Buyer } from '../faults/test-shop.ts';
import type { AttackRun } from './attack.ts';

/** A line of an order with an activity. */
type Line = { sku_id: number; activity_product_id: number };
/** The body that opens a group or a bargain. */
type Offer = { activity_id: number; product_id: number; sku_id: number };

/** Goods and coupons that few shoppers can have, and what the others can use. */
export type Promotions = {
  /** Pieces of `coupon`, `mallProduct` and `sale`. */
  pieces: number;
  coupon: number;
  mallProduct: number;
  sale: Line;
  /** A coupon and a product of the points mall without limits. */
  openCoupon: number;
  openProduct: number;
  /** Ordinary goods. */
  skuIds: readonly number[];
  group: { offer: Offer; line: Line; size: number };
  bargain: { offer: Offer; line: Line; helpers: number; floor: number };
  /** A distributor with this available amount. */
  distributor: Buyer;
  available: number;
};

const groupSize = 4;
const helpers = 5;
/** The commission of the first level is 10 %. */
const priceOfCommission = { cents: 200_000, available: 200 };

type Call = (method: string, path: string, token: string, json?: object) => Promise<Record<string, never>>;

const callOf =
  ({ target }: AttackRun): Call =>
  async (method, path, token, json) => {
    const response = await fetch(target.api.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(json ? { body: JSON.stringify(json) } : {}),
    });
    const { code, message, data } = (await response.json()) as {
      code: number;
      message: string;
      data: Record<string, never>;
    };
    if (code !== 0) throw new Error(`${method} ${path}: ${code} ${message}`);
    return data;
  };

/** Adds a product with one SKU to the running activity of a kind, which is created first when it is missing. */
async function offered(
  { servers }: AttackRun,
  type: 'seckill' | 'group_buy' | 'bargain',
  row: { price?: number; start?: number; floor?: number; cap?: number; options?: object },
): Promise<{ offer: Offer; line: Line }> {
  const { price = 0, start = 0, floor = 0, cap = 0, options = {} } = row;
  const { id: product_id, sku_ids } = await servers.goods({ stocks: [100_000], price: 1_290 });
  const sku_id = sku_ids[0]!;
  await servers.sql`
    insert into activities.activities (type, name, start_at, end_at, options)
    select ${type}, 'Hostile', now() - interval '1 minute', now() + interval '1 day', ${servers.sql.json(options as never)}
    where not exists (select from activities.activities where type = ${type})`;
  const [made] = await servers.sql<{ id: number; activity_id: number }[]>`
    insert into activities.activity_products (activity_id, product_id, sku_id, activity_price, start_price, floor_price, total_stock_limit)
    select id, ${product_id}, ${sku_id}, ${price}::int, ${start}::int, ${floor}::int, ${cap}::int
    from activities.activities where type = ${type} returning id, activity_id`;
  return {
    offer: { activity_id: made!.activity_id, product_id, sku_id },
    line: { sku_id, activity_product_id: made!.id },
  };
}

/** A distributor whose customer has paid an order, with its settled commission. */
async function earnCommission(attackRun: AttackRun, call: Call): Promise<Buyer> {
  const { sql, staff, ...servers } = attackRun.servers;
  const [distributor, customer] = await servers.shoppers(2);
  const [made] = await sql<{ id: number }[]>`
    insert into distribution.distributors (user_id, level, status, real_name, phone)
    values (${distributor!.id}, 1, 'active', 'Ann', '13800000000') returning id`;
  const { token, address_id } = customer!;
  await call('POST', '/api/v1/distribution/bind', token, { distributor_id: made!.id });
  const { sku_ids } = await servers.goods({ price: priceOfCommission.cents });
  const order = await call('POST', '/api/v1/orders', token, { address_id, items: [{ sku_id: sku_ids[0] }] });
  await call('POST', `/api/v1/orders/${order.id}/pay`, token);
  for (const end = performance.now() + 20_000; ; await sleep(50)) {
    const [commission] = await sql<{ id: number }[]>`
      select id from distribution.commissions where distributor_id = ${made!.id} and status = 'pending'`;
    if (commission) {
      await call('PUT', `/admin/api/distribution/commissions/${commission.id}/settle`, staff);
      return distributor!;
    }
    if (performance.now() > end) throw new Error('no commission within 20 s');
  }
}

export async function startPromotions(attackRun: AttackRun): Promise<Promotions> {
  const { servers } = attackRun;
  const pieces = attackRun.of({ short: 5, long: 20 });
  const call = callOf(attackRun);
  const coupon = async (fields: object): Promise<number> => {
    const body = { name: 'One off', type: 3, discount: 1, ...fields };
    return (await call('POST', '/admin/api/marketing/coupons', servers.staff, body)).id!;
  };
  const mallProduct = async (fields: object): Promise<number> => {
    const body = { title: 'Mug', type: 'physical', points_price: 10, status: 1, ...fields };
    return (await call('POST', '/admin/api/points/products', servers.staff, body)).id!;
  };
  const { sku_ids: skuIds } = await servers.goods({ stocks: [100_000, 100_000, 100_000, 100_000, 100_000] });
  const [sale, group, bargain] = [
    await offered(attackRun, 'seckill', { price: 900, cap: pieces }),
    await offered(attackRun, 'group_buy', { price: 900, options: { group_size: groupSize, expire_hours: 24 } }),
    await offered(attackRun, 'bargain', {
      start: 1_000,
      floor: 600,
      options: { max_helpers: helpers, min_cut_amount: 1, max_cut_amount: 50 },
    }),
  ];
  return {
    ...{ pieces, skuIds },
    coupon: await coupon({ total_count: pieces, per_limit: 1 }),
    openCoupon: await coupon({}),
    mallProduct: await mallProduct({ stock: pieces }),
    openProduct: await mallProduct({ points_price: 1 }),
    sale: sale.line,
    group: { ...group, size: groupSize },
    bargain: { ...bargain, helpers, floor: 6 },
    distributor: await earnCommission(attackRun, call),
    available: priceOfCommission.available,
  };
}
