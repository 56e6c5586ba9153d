import { insertProduct, type Shop } from '@tradepost/testing/shop';

type Buyer = Awaited<ReturnType<Shop['shopper']>>;
export type ShippedOrder = { id: number; order_no: string; items: { id: number; product_id: number }[] };

/** Orders and reviews of a shop over HTTP. */
export async function openReviewedOrders(shop: Shop) {
  const staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });

  /** An unpaid order of one line for each product. Without `products` they are new. */
  async function placed(buyer: Buyer, lines = 1, skuIds?: readonly number[]): Promise<ShippedOrder> {
    const skus = skuIds ?? (await newSkus(lines));
    const body = { address_id: buyer.address_id, items: skus.map((sku_id) => ({ sku_id })) };
    const { data, message } = await shop.call('POST', '/api/v1/orders', { token: buyer.token, body });
    if (!data) throw new Error(message);
    const order = await shop.call('GET', `/api/v1/orders/${data.id}`, { token: buyer.token });
    return order.data;
  }
  /** SKUs of new products. */
  async function newSkus(count: number): Promise<number[]> {
    const products = await Promise.all(Array.from({ length: count }, () => insertProduct(shop.database)));
    return products.map((product) => product.sku_ids[0]!);
  }
  async function paid(buyer: Buyer, lines = 1, skuIds?: readonly number[]): Promise<ShippedOrder> {
    const order = await placed(buyer, lines, skuIds);
    await shop.call('POST', `/api/v1/orders/${order.id}/pay`, { token: buyer.token });
    return order;
  }
  async function shipped(buyer: Buyer, lines = 1, skuIds?: readonly number[]): Promise<ShippedOrder> {
    const order = await paid(buyer, lines, skuIds);
    const body = { company: 'SF', tracking_no: `SF${order.id}` };
    const { code, message } = await shop.call('PUT', `/admin/api/orders/${order.id}/ship`, { token: staff, body });
    if (code !== 0) throw new Error(message);
    return order;
  }
  const review = (buyer: Pick<Buyer, 'token'>, order: Pick<ShippedOrder, 'id'>, body: object, lang = 'en') =>
    shop.call('POST', `/api/v1/orders/${order.id}/review`, { token: buyer.token, body, lang });
  const meta = async (buyer: Pick<Buyer, 'token'>, order: Pick<ShippedOrder, 'id'>) =>
    (await shop.call('GET', `/api/v1/orders/${order.id}/review`, { token: buyer.token })).data;
  const statusOf = async (buyer: Pick<Buyer, 'token'>, order: Pick<ShippedOrder, 'id'>): Promise<number> =>
    (await shop.call('GET', `/api/v1/orders/${order.id}`, { token: buyer.token })).data.status;
  /** The first error of an answer: its code and message, or null after a success. */
  const refusal = ({ code, message }: { code: number; message: string }) => (code === 0 ? null : [code, message]);

  return { staff, placed, paid, shipped, newSkus, review, meta, statusOf, refusal };
}
