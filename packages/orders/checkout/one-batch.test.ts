import { auditViolations } from '@tradepost/testing/audit-violations';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Shoppers who share a transaction must not read or change the data of each other. */
let shop: Shop;
beforeAll(async () => {
  shop = await openShop({ only: 'api,worker' });
});
afterAll(() => shop?.close());

const rounds = 20;

test('an order to the address of another shopper in the same batch is refused, before and after the order of the owner', async () => {
  const { sku_ids } = await insertProduct(shop.database, { stocks: [10_000] });
  const [owner, other] = [await shop.shopper(), await shop.shopper()];
  const order = (token: string) =>
    shop.call('POST', '/api/v1/orders', {
      token,
      body: { address_id: owner.address_id, items: [{ sku_id: sku_ids[0] }] },
    });
  for (let round = 0; round < rounds; round += 1) {
    const tokens = [other.token, owner.token, owner.token, other.token];
    const answers = await Promise.all(tokens.map(order));
    expect(answers.map((answer) => answer.code)).toEqual([20001, 0, 0, 20001]);
  }
});

test.each(['pay', 'cancel'])('another shopper cannot %s an order in the same batch; the owner can', async (verb) => {
  const { sku_ids } = await insertProduct(shop.database, { stocks: [10_000] });
  const [owner, other] = [await shop.shopper(), await shop.shopper()];
  for (let round = 0; round < rounds; round += 1) {
    const body = { address_id: owner.address_id, items: [{ sku_id: sku_ids[0] }] };
    const { data } = await shop.call('POST', '/api/v1/orders', { token: owner.token, body });
    const tokens = [other.token, owner.token, other.token, owner.token];
    const answers = await Promise.all(
      tokens.map((token) => shop.call('POST', `/api/v1/orders/${data.id}/${verb}`, { token })),
    );
    expect(answers.map((answer) => answer.code).sort()).toEqual([0, 500, 500, 500]);
    expect([answers[1]!.code, answers[3]!.code]).toContain(0);
  }
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});

test('one order with broken stock records does not stop the expiry of the others', async () => {
  const { sku_ids } = await insertProduct(shop.database, { stocks: [10] });
  const { token, address_id } = await shop.shopper();
  const ids: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    const body = { address_id, items: [{ sku_id: sku_ids[0] }] };
    ids.push((await shop.call('POST', '/api/v1/orders', { token, body })).data.id);
  }
  const { sql } = shop.database;
  await sql`update orders.orders set expires_at = now() - interval '1 hour' where id = any(${ids}::bigint[])`;
  await sql`
    delete from inventory.inventory_reservation r using orders.orders o where o.id = ${ids[0]!} and r.biz_no = o.order_no`;
  await sql`select graphile_worker.add_job('orders.expire', '{}')`;
  const statuses = async () =>
    (
      await sql<{ status: number }[]>`select status from orders.orders where id = any(${ids}::bigint[]) order by id`
    ).map((row) => row.status);
  await expect.poll(statuses, { timeout: 10_000 }).toEqual([1, 6, 6]);
});

test('an order that waited for a product edit has the new price, and is refused when the product was taken off sale', async () => {
  const { id, sku_ids } = await insertProduct(shop.database, { price: 100, stocks: [10] });
  const { token, address_id } = await shop.shopper();
  const body = { address_id, items: [{ sku_id: sku_ids[0] }] };
  const during = async (change: (tx: typeof shop.database.sql) => Promise<unknown>) => {
    let placed: Promise<{ code: number; data: { total_amount: number } }> | undefined;
    await shop.database.sql.begin(async (tx) => {
      await tx`select id from catalog.product_skus where id = ${sku_ids[0]!} for no key update`;
      await change(tx as never);
      placed = shop.call('POST', '/api/v1/orders', { token, body });
      // Wait until the order is blocked by the lock of this transaction.
      await expect
        .poll(async () => (await shop.database.sql`select 1 from pg_locks where not granted`).length, {
          timeout: 5_000,
        })
        .toBeGreaterThan(0);
    });
    return placed!;
  };
  const repriced = await during((tx) => tx`update catalog.product_skus set price = 999900 where id = ${sku_ids[0]!}`);
  expect(repriced.data.total_amount).toBe(9999);
  const offSale = await during((tx) => tx`update catalog.products set status = 0 where id = ${id}`);
  expect(offSale.code).toBe(20001);
});
