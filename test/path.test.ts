import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertProduct, openShop, type Shop } from './harness/shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

test('a shopper finds a product, orders it, pays, and the order is shipped', async () => {
  const { id, sku_ids } = await insertProduct(shop.database, { stocks: [5, 7] });
  const { token, address_id } = await shop.shopper();
  const found = await shop.call('GET', '/api/v1/products?keyword=enamel', { token });
  expect(found.data.list[0]).toMatchObject({ id, price: 12.9, stock: 12 });
  const detail = await shop.call('GET', `/api/v1/products/${id}`);
  expect(detail.data.skus.map((sku: { stock: number }) => sku.stock)).toEqual([5, 7]);

  await shop.call('POST', '/api/v1/cart/add', { token, body: { sku_id: sku_ids[0], qty: 2 } });
  await shop.call('POST', '/api/v1/cart/add', { token, body: { sku_id: sku_ids[1] } });
  const cart = await shop.call('GET', '/api/v1/cart', { token });
  expect(cart.data.map((line: { qty: number }) => line.qty)).toEqual([2, 1]);

  const placed = await shop.call('POST', '/api/v1/orders', { token, body: { address_id } });
  expect(placed.data).toMatchObject({ status: 1, total_amount: 38.7, inventory_status: 'reserved' });
  const order = `/api/v1/orders/${placed.data.id}`;
  expect((await shop.call('POST', `${order}/pay`, { token })).code).toBe(0);
  const paid = await shop.call('GET', order, { token });
  expect(paid.data).toMatchObject({ status: 2, status_label: 'Pending Shipment', inventory_status: 'confirmed' });

  const staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  const listed = await shop.call('GET', '/admin/api/orders?status=2', { token: staff });
  expect(listed.data).toMatchObject({ total: 1, list: [{ id: placed.data.id, receiver_name: 'Ann' }] });
  const ship = await shop.call('PUT', `/admin/api/orders/${placed.data.id}/ship`, {
    token: staff,
    body: { ship_type: 'initial', company: 'sf', tracking_no: 'SF100' },
  });
  expect(ship.code).toBe(0);
  const shipped = await shop.call('GET', order, { token });
  expect(shipped.data).toMatchObject({
    status: 3,
    tracking_no: 'SF100',
    latest_shipment: { company: 'SF', biz_type: 'initial' },
  });
});
