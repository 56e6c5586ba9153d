import { insertProduct, type Shop } from '@tradepost/testing/shop';

const hour = 3_600_000;
/** A time of `hours` from now, as a client sends it. */
export const inHours = (hours: number): string => new Date(Date.now() + hours * hour).toISOString();

type Row = { product_id: number; sku_id: number } & Record<string, unknown>;

/** Activities of a shop over HTTP. They run one after the other, because times of one type must not overlap. */
export async function openFlashSales(shop: Shop, path = 'seckill') {
  const staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  const admin = (method: string, rest: string, body?: unknown) =>
    shop.call(method, `/admin/api/${path}${rest}`, { token: staff, ...(body === undefined ? {} : { body }) });

  /** Ends the activity that runs, and starts one with these rows. Returns its id and the ids of the rows. */
  async function start(rows: readonly Row[], fields: Record<string, unknown> = {}) {
    await shop.database.sql`update activities.activities set deleted_at = now() where deleted_at is null`;
    const body = { name: 'Weekend sale', start_at: inHours(-1), end_at: inHours(24), ...fields };
    const { data, message } = await admin('POST', '/activities', body);
    if (!data) throw new Error(message);
    const answer = await admin('PUT', `/activities/${data.id}/products`, rows);
    if (answer.code !== 0) throw new Error(answer.message);
    const stored = await shop.database.sql<{ id: number }[]>`
      select id from activities.activity_products where activity_id = ${data.id} order by id`;
    return { id: data.id as number, rowIds: stored.map((row) => row.id) };
  }
  /** A product with one SKU in an activity with these fields. */
  async function sellOne(fields: Record<string, unknown>, stock = 1_000) {
    const product = await insertProduct(shop.database, { stocks: [stock] });
    const sku_id = product.sku_ids[0]!;
    const { id, rowIds } = await start([{ product_id: product.id, sku_id, activity_price: 9.9, ...fields }]);
    return { activity_id: id, product_id: product.id, sku_id, activity_product_id: rowIds[0]! };
  }
  const soldOf = async (activityProductId: number): Promise<number> => {
    const [row] = await shop.database.sql<{ sold_qty: number }[]>`
      select sold_qty from activities.activity_products where id = ${activityProductId}`;
    return row!.sold_qty;
  };
  return { staff, admin, start, sellOne, soldOf };
}
