import type { Doing } from '../race.ts';
import { act, type Buyer, order, type Stage } from '../stage.ts';

export type Placed = { buyer: Buyer; sku: number; product: number; order_id: number };
/** An unpaid order of one piece, placed on the instance that is not held. */
export async function placed(stage: Stage): Promise<Placed> {
  const [buyer] = await stage.buyers(1);
  const { id, sku_ids } = await stage.goods({ stocks: [10] });
  const { code, data, message } = await order(stage.second, buyer!, sku_ids);
  if (code !== 0) throw new Error(message);
  return { buyer: buyer!, sku: sku_ids[0]!, product: id, order_id: data.id };
}
export const runOut = ({ sql }: Stage, id: number) =>
  sql`update orders.orders set expires_at = now() - interval '1 minute' where id = ${id}`;

export const staffCall = (stage: Stage, method: string, path: string, body?: object): Doing => {
  return (at) => at.call(method, path, { token: stage.staff, ...(body ? { body } : {}) });
};
export const expire: Doing = async (at) => {
  await at.job('orders.expire');
  return undefined;
};

export const pay =
  ({ buyer, order_id }: Placed): Doing =>
  (at) =>
    act(at, 'pay', buyer, order_id);
export const cancel =
  ({ buyer, order_id }: Placed): Doing =>
  (at) =>
    act(at, 'cancel', buyer, order_id);
/** Answers per order: what was refused for it is a refusal here. */
export const close =
  (stage: Stage, { order_id }: Placed): Doing =>
  async (at) => {
    const answer = await at.call('POST', '/admin/api/orders/batch/close', {
      token: stage.staff,
      body: { ids: [order_id] },
    });
    return answer.code === 0 && answer.data.success_ids.length === 0 ? { ...answer, code: 500 } : answer;
  };

export const newPrice = 7;
export const reprice =
  (stage: Stage, { order_id }: Placed): Doing =>
  async (at) => {
    const [item] = await stage.sql<{ id: number }[]>`select id from orders.order_items where order_id = ${order_id}`;
    return at.call('POST', `/admin/api/orders/${order_id}/repricing`, {
      token: stage.staff,
      body: { items: [{ item_id: item!.id, price: newPrice }] },
    });
  };
