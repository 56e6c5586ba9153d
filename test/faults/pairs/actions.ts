import type { Action } from '../race.ts';
import { type Buyer, order, payOrCancel, type TestShop } from '../test-shop.ts';

export type Placed = { buyer: Buyer; sku: number; product: number; order_id: number };
/** Places an unpaid order of one piece, on the instance whose requests are never paused. */
export async function placeUnpaid(testShop: TestShop): Promise<Placed> {
  const [buyer] = await testShop.buyers(1);
  const { id, sku_ids } = await testShop.goods({ stocks: [10] });
  const { code, data, message } = await order(testShop.second, buyer!, sku_ids);
  if (code !== 0) throw new Error(message);
  return { buyer: buyer!, sku: sku_ids[0]!, product: id, order_id: data.id };
}
export const expireOrder = ({ sql }: TestShop, id: number) =>
  sql`update orders.orders set expires_at = now() - interval '1 minute' where id = ${id}`;

export const staffCall = (testShop: TestShop, method: string, path: string, body?: object): Action => {
  return (at) => at.call(method, path, { token: testShop.staff, ...(body ? { body } : {}) });
};
export const runExpiry: Action = async (at) => {
  await at.job('orders.expire');
  return undefined;
};

export const pay =
  ({ buyer, order_id }: Placed): Action =>
  (at) =>
    payOrCancel(at, 'pay', buyer, order_id);
export const cancel =
  ({ buyer, order_id }: Placed): Action =>
  (at) =>
    payOrCancel(at, 'cancel', buyer, order_id);
/** A batch of one order. A refusal of the order within the batch becomes the code of the answer. */
export const close =
  (testShop: TestShop, { order_id }: Placed): Action =>
  async (at) => {
    const answer = await at.call('POST', '/admin/api/orders/batch/close', {
      token: testShop.staff,
      body: { ids: [order_id] },
    });
    return answer.code === 0 && answer.data.success_ids.length === 0 ? { ...answer, code: 500 } : answer;
  };

export const newPrice = 7;
export const reprice =
  (testShop: TestShop, { order_id }: Placed): Action =>
  async (at) => {
    const [item] = await testShop.sql<{ id: number }[]>`select id from orders.order_items where order_id = ${order_id}`;
    return at.call('POST', `/admin/api/orders/${order_id}/repricing`, {
      token: testShop.staff,
      body: { items: [{ item_id: item!.id, price: newPrice }] },
    });
  };
