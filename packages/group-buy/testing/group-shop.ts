import { runTask } from '@tradepost/testing/run-task';
import { insertProduct, type Shop } from '@tradepost/testing/shop';

export type Buyer = Awaited<ReturnType<Shop['shopper']>>;
/** A SKU of the running group buy. `row` is its activity_product_id. */
export type Offered = { product_id: number; sku_id: number; row: number };

const hour = 60 * 60 * 1000;

/** A running group buy with these numbers of SKUs, each with a row of its own, and groups over HTTP. */
export async function openGroupShop(shop: Shop, { skus = 4, group_size = 2 } = {}) {
  const { sql } = shop.database;
  const staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });

  async function send(method: string, path: string, token: string, body?: unknown) {
    const answer = await shop.call(method, path, { token, ...(body === undefined ? {} : { body }) });
    if (answer.code !== 0) throw new Error(`${method} ${path}: ${answer.code} ${answer.message}`);
    return answer.data;
  }
  const product = await insertProduct(shop.database, { price: 1_000, stocks: Array(skus).fill(1_000) });
  const activity = await send('POST', '/admin/api/group-buy/activities', staff, {
    name: 'Two for mugs',
    start_at: new Date(Date.now() - hour).toISOString(),
    end_at: new Date(Date.now() + 1_000 * hour).toISOString(),
    status: 1,
    group_size,
  });
  const activity_id: number = activity.id;
  await send(
    'PUT',
    `/admin/api/group-buy/activities/${activity_id}/products`,
    staff,
    product.sku_ids.map((sku_id) => ({ product_id: product.id, sku_id, activity_price: 8 })),
  );
  const rows = await sql<{ id: number; sku_id: number }[]>`
    select id, sku_id from activities.activity_products where activity_id = ${activity_id} order by sku_id`;
  const offers = rows.map(({ id, sku_id }): Offered => ({ product_id: product.id, sku_id, row: id }));

  const open = (leader: Buyer, { product_id, sku_id }: Offered) =>
    send('POST', '/api/v1/group-buy/orders', leader.token, { activity_id, product_id, sku_id });
  /** An order of one piece of the offer. Returns its id. */
  async function order(buyer: Buyer, { sku_id, row }: Offered, paid = true): Promise<number> {
    const items = [{ sku_id, activity_product_id: row }];
    const { id } = await send('POST', '/api/v1/orders', buyer.token, { address_id: buyer.address_id, items });
    if (paid) await send('POST', `/api/v1/orders/${id}/pay`, buyer.token);
    return id;
  }
  const tryJoin = (buyer: Buyer, groupId: number, order_id: number) =>
    shop.call('POST', `/api/v1/group-buy/orders/${groupId}/join`, { token: buyer.token, body: { order_id } });
  async function join(buyer: Buyer, groupId: number, offer: Offered, paid = true): Promise<number> {
    const id = await order(buyer, offer, paid);
    const { code, message } = await tryJoin(buyer, groupId, id);
    if (code !== 0) throw new Error(message);
    return id;
  }
  const read = (buyer: Buyer, groupId: number) => send('GET', `/api/v1/group-buy/orders/${groupId}`, buyer.token);
  const members = (buyer: Buyer, groupId: number) =>
    send('GET', `/api/v1/group-buy/orders/${groupId}/members`, buyer.token);
  const ship = (orderId: number) =>
    shop.call('PUT', `/admin/api/orders/${orderId}/ship`, {
      token: staff,
      body: { company: 'SF', tracking_no: `SF${orderId}` },
    });
  const statusOf = async (orderId: number): Promise<number> =>
    (await sql<{ status: number }[]>`select status from orders.orders where id = ${orderId}`)[0]!.status;
  /** Lets the time of a group be over. */
  const passTime = (groupId: number) => sql`
    update group_buy.groups set expire_at = now() - interval '1 second' where id = ${groupId}`;
  const sweep = () => runTask(shop, 'group_buy.expire');
  return {
    ...{ staff, activity_id, offers, send, open, order, tryJoin, join },
    read,
    members,
    ship,
    statusOf,
    passTime,
    sweep,
  };
}
