import { runTask } from '@tradepost/testing/run-task';
import { insertProduct, type Shop } from '@tradepost/testing/shop';

export type Buyer = Awaited<ReturnType<Shop['shopper']>>;
/** A SKU of the running bargain. `row` is its activity_product_id. */
export type Offered = { product_id: number; sku_id: number; row: number };

const hour = 60 * 60 * 1000;

/** A running bargain from 10.00 down to 6.00 with these numbers of SKUs, each with a row of its own, and bargains over HTTP. */
export async function openBargainShop(
  shop: Shop,
  { skus = 4, ...options }: { skus?: number } & Record<string, unknown> = {},
) {
  const { sql } = shop.database;
  const staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });

  async function send(method: string, path: string, token: string, body?: unknown) {
    const answer = await shop.call(method, path, { token, ...(body === undefined ? {} : { body }) });
    if (answer.code !== 0) throw new Error(`${method} ${path}: ${answer.code} ${answer.message}`);
    return answer.data;
  }
  const product = await insertProduct(shop.database, { price: 1_200, stocks: Array(skus).fill(1_000) });
  const { id } = await send('POST', '/admin/api/bargain/activities', staff, {
    name: 'Mugs to bargain for',
    start_at: new Date(Date.now() - hour).toISOString(),
    end_at: new Date(Date.now() + 1_000 * hour).toISOString(),
    status: 1,
    ...options,
  });
  const activity_id: number = id;
  await send(
    'PUT',
    `/admin/api/bargain/activities/${activity_id}/products`,
    staff,
    product.sku_ids.map((sku_id) => ({ product_id: product.id, sku_id, start_price: 10, floor_price: 6 })),
  );
  const rows = await sql<{ id: number; sku_id: number }[]>`
    select id, sku_id from activities.activity_products where activity_id = ${activity_id} order by sku_id`;
  const offers = rows.map((row): Offered => ({ product_id: product.id, sku_id: row.sku_id, row: row.id }));

  /** Changes the options of the activity, for bargains that are opened from now on. */
  const setOptions = (fields: Record<string, unknown>) =>
    send('PUT', `/admin/api/bargain/activities/${activity_id}`, staff, fields);
  const open = (owner: Buyer, { product_id, sku_id }: Offered) =>
    send('POST', '/api/v1/bargain/orders', owner.token, { activity_id, product_id, sku_id });
  const help = (helper: Buyer, bargainId: number) =>
    shop.call('POST', `/api/v1/bargain/orders/${bargainId}/help`, { token: helper.token });
  const read = (reader: Buyer, bargainId: number) => send('GET', `/api/v1/bargain/orders/${bargainId}`, reader.token);
  const helpers = (reader: Buyer, bargainId: number) =>
    send('GET', `/api/v1/bargain/orders/${bargainId}/helpers`, reader.token);
  /** A bargain at its floor price. */
  async function succeeded(owner: Buyer, helper: Buyer, offer: Offered) {
    await setOptions({ max_helpers: 1 });
    const { id: bargainId } = await open(owner, offer);
    const { code, message } = await help(helper, bargainId);
    if (code !== 0) throw new Error(message);
    return read(owner, bargainId);
  }
  const tryOrder = (buyer: Buyer, { sku_id, row }: Offered) =>
    shop.call('POST', '/api/v1/orders', {
      token: buyer.token,
      body: { address_id: buyer.address_id, items: [{ sku_id, activity_product_id: row }] },
    });
  async function order(buyer: Buyer, offer: Offered) {
    const { code, data, message } = await tryOrder(buyer, offer);
    if (code !== 0) throw new Error(message);
    return data;
  }
  /** Lets the time of a bargain be over. */
  const passTime = (bargainId: number) => sql`
    update bargain.bargains set expire_at = now() - interval '1 second' where id = ${bargainId}`;
  const sweep = () => runTask(shop, 'bargain.expire');
  return {
    ...{ staff, activity_id, offers, send, setOptions, open, help, read, helpers },
    ...{ succeeded, tryOrder, order, passTime, sweep },
  };
}
