import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

test('a shopper finds a product, orders and pays it, and staff ship the order', async () => {
  const { id, sku_ids } = await insertProduct(shop.database, { stocks: [5, 7] });
  const [first, second] = sku_ids;
  const { token, address_id } = await shop.shopper();
  const shopper = shop.client(token);
  const found = await shopper.get('/api/v1/products', { query: { keyword: 'enamel' } });
  expect(found.list[0]).toMatchObject({ id, price: 12.9, stock: 12 });
  const detail = await shopper.get('/api/v1/products/{id}', { path: { id } });
  expect(detail.skus.map((sku) => sku.stock)).toEqual([5, 7]);

  await shopper.post('/api/v1/cart/add', { body: { sku_id: first!, qty: 2 } });
  await shopper.post('/api/v1/cart/add', { body: { sku_id: second! } });
  const cart = await shopper.get('/api/v1/cart');
  expect(cart.map((line) => line.qty)).toEqual([2, 1]);

  const placed = await shopper.post('/api/v1/orders', { body: { address_id } });
  expect(placed).toMatchObject({ status: 1, total_amount: 38.7, inventory_status: 'reserved' });
  const order = { path: { id: placed.id } };
  await shopper.post('/api/v1/orders/{id}/pay', order);
  const paid = await shopper.get('/api/v1/orders/{id}', order);
  expect(paid).toMatchObject({ status: 2, status_label: 'Pending Shipment', inventory_status: 'confirmed' });

  const staff = shop.client(await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] }));
  const listed = await staff.get('/admin/api/orders', { query: { status: 2 } });
  expect(listed).toMatchObject({ total: 1, list: [{ id: placed.id, receiver_name: 'Ann' }] });
  await staff.put('/admin/api/orders/{id}/ship', {
    ...order,
    body: { ship_type: 'initial', company: 'sf', tracking_no: 'SF100' },
  });
  const shipped = await shopper.get('/api/v1/orders/{id}', order);
  expect(shipped).toMatchObject({
    status: 3,
    tracking_no: 'SF100',
    latest_shipment: { company: 'SF', biz_type: 'initial' },
  });
});
