import { randomUUID } from 'node:crypto';
import type { Sql } from '@tradepost/postgres';
import { type Promotions, verifyPromotions } from './promotion-checks.ts';
import type { Shoppers } from './shopper-load.ts';
import { type Buyer, until } from './test-shop.ts';
import { openWriter, type Target, type Verb } from './writes.ts';

/** What an order shall use. */
type Choice = { coupons: number[]; points: number };

const grantedPoints = 20;
/** Points of most orders. Two orders at once use all that there are. */
const fewPoints = 7;

/**
 * Starts shoppers who claim coupons, check in, and place orders that use a coupon, points and a flash sale. They pay, cancel, and have
 * orders refunded. Every fourth time two orders at once use the same coupon or all points: exactly one may be placed.
 */
export function startPromotedShoppers(
  target: Target,
  buyers: readonly Buyer[],
  skuIds: readonly number[],
  promotions: Promotions,
): Shoppers & { unpaid(): number } {
  const { staff, coupon, lastCoupons, onSale } = promotions;
  const writer = openWriter(target);
  const chosenCoupons = new Map<string, number>();
  const faults: string[] = [];
  let ending = false;
  let confirmed = 0;

  const write = (
    verb: Verb,
    token: string,
    path: string,
    { order = 0, json }: { order?: number; json?: object } = {},
  ) =>
    writer.write({
      ...{ verb, key: randomUUID(), path, token, order },
      body: json === undefined ? '' : JSON.stringify(json),
    });

  /** Returns the id of the order, or null when it was refused. */
  async function place({ address_id, token }: Buyer, items: readonly object[], choice: Choice): Promise<number | null> {
    const key = randomUUID();
    for (const id of choice.coupons) chosenCoupons.set(key, id);
    const uses = { coupon_ids: choice.coupons, points_use: choice.points };
    const body = JSON.stringify({ address_id, items, ...uses, remark: key });
    const { code, data } = await writer.write({ verb: 'order', key, path: '/api/v1/orders', body, token, order: 0 });
    if (code !== 0 || data?.id === undefined) return null;
    confirmed += 1;
    return data.id;
  }

  const balanceOf = async (token: string): Promise<number> =>
    ((await writer.read('/api/v1/points/balance', token)) as { points: number }).points;

  /** Returns the whole order before its shipment: its coupon, points and pieces of the flash sale come back. */
  async function refund(order: number, { token }: Buyer, points: number): Promise<void> {
    const before = await balanceOf(token);
    const { items } = (await writer.read(`/api/v1/orders/${order}`, token)) as { items: { id: number; qty: number }[] };
    const json = { reason: 'Broken', items: items.map(({ id, qty }) => ({ order_item_id: id, qty })) };
    const { data } = await write('apply', token, `/api/v1/orders/${order}/after-sales`, { order, json });
    const ofStaff = `/admin/api/after-sales/${data?.id}`;
    const parcel = { company: '', tracking_no: `B${order}` };
    await write('approve', staff, `${ofStaff}/audit`, { order, json: { approve: true } });
    await write('send_back', token, `/api/v1/after-sales/${data?.id}/return-shipments`, { order, json: parcel });
    await write('receive', staff, `${ofStaff}/receive`, { order });
    await write('refund', staff, `${ofStaff}/refund`, { order, json: {} });
    await write('complete', staff, `${ofStaff}/complete`, { order });
    // The points come back with an event. Until then a balance that was read can still grow.
    await until('a refund returns its points', async () => (await balanceOf(token)) === before + points, 60);
  }

  async function buy(buyer: Buyer, index: number, round: number): Promise<void> {
    const { token } = buyer;
    // Shoppers differ in what they do at the same time.
    const step = index + round;
    await write('claim', token, `/api/v1/coupons/${round === 0 ? lastCoupons.id : coupon}/claim`);
    if (round % 8 === 0) await write('check_in', token, '/api/v1/checkin');
    if (round % 5 === 0) {
      const json = { user_id: buyer.id, points: grantedPoints, remark: 'faults' };
      await write('grant', staff, '/admin/api/points/adjust', { json });
    }
    const [unused] = (await writer.read('/api/v1/user/coupons?status=1&size=1', token)) as { id: number }[];
    if (!unused) return;
    const balance = await balanceOf(token);
    const [one, other] = [0, 1].map((n) => ({ sku_id: skuIds[(index * 5 + round * 3 + n * 11) % skuIds.length] }));
    const two = step % 4 === 3;
    // Either the coupon or the points are wanted twice, so that the refusal of one does not hide the other.
    const allPoints = two && step % 8 === 7 && balance > 0;
    const choice = {
      coupons: allPoints ? [] : [unused.id],
      points: allPoints ? balance : two ? 0 : Math.min(balance, fewPoints),
    };
    const lines = two ? [[one!], [other!]] : [[one!, index % 2 === 1 ? onSale[round % onSale.length]! : other!]];
    const placed = (await Promise.all(lines.map((items) => place(buyer, items, choice)))).filter((id) => id !== null);
    if (two && placed.length !== 1)
      faults.push(`of two orders at once with ${JSON.stringify(choice)} ${placed.length} were placed`);
    const [order] = placed;
    if (order === undefined || step % 7 === 6) return;
    // An order that wrongly used the same must stay, so that the tables show it.
    const verb = step % 3 === 1 && !two ? 'cancel' : 'pay';
    await write(verb, token, `/api/v1/orders/${order}/${verb}`, { order });
    if (verb === 'pay' && step % 5 === 0 && !two) await refund(order, buyer, choice.points);
  }
  const shopping = Promise.all(
    buyers.map(async (buyer, index) => {
      for (let round = 0; !ending; round += 1) await buy(buyer, index, round);
    }),
  );
  shopping.catch(() => {
    ending = true;
  });

  return {
    confirmed: () => confirmed,
    interrupted: writer.interrupted,
    refused: writer.refused,
    unpaid: () => writer.writes.filter(({ verb, answer }) => verb === 'pay' && answer === null).length,
    async finish() {
      ending = true;
      await shopping;
    },
    async verify(sql: Sql, outcome) {
      await writer.verify(sql, outcome);
      outcome.faults.push(...faults);
      await verifyPromotions(sql, outcome, {
        ...promotions,
        ...{ buyers, chosenCoupons, writes: writer.writes, grantedPoints },
      });
    },
  };
}
