import { openShop } from '@tradepost/testing/shop';
import { expect, test } from 'vitest';
import { seckillDemo } from './seed-demo.ts';

test('the demo shop has a running flash sale of three rows, which a later start extends', async () => {
  const shop = await openShop({ seed: 'demo' });
  try {
    const { list } = (await shop.call('GET', '/api/v1/seckill/products')).data;
    expect(list.map((row: { title: string }) => row.title).sort()).toEqual([
      'Cast-Iron Skillet',
      'Enamel Saucepan',
      'Whistling Kettle',
    ]);
    for (const { price, origin_price, seckill_price, stock } of list) {
      expect(price).toBeLessThan(origin_price);
      expect([price > 0, seckill_price === price, stock > 0]).toEqual([true, true, true]);
    }
    const { sql } = shop.database;
    await sql`update activities.activities set end_at = now() + interval '1 day'`;
    await seckillDemo.start!(shop.server.runtime);
    const [sale] = await sql<{ far: boolean }[]>`
      select end_at > now() + interval '29 days' as far from activities.activities where type = 'seckill'`;
    expect(sale).toEqual({ far: true });
  } finally {
    await shop.close();
  }
});

test('without the module its paths and its lines do not exist', async () => {
  const shop = await openShop({ modules: '-seckill' });
  try {
    expect(await shop.call('GET', '/api/v1/seckill/products')).toMatchObject({ status: 404 });
    const { sql } = shop.database;
    await sql`insert into catalog.products (id, title, price) overriding system value values (1, 'Mug', 1000)`;
    await sql`insert into catalog.product_skus (id, product_id, sku_key, price, stock) overriding system value values (1, 1, 'a', 1000, 9)`;
    await sql`
      with made as (
        insert into activities.activities (type, name, start_at, end_at)
        values ('seckill', 'Sale', now() - interval '1 hour', now() + interval '1 hour') returning id)
      insert into activities.activity_products (id, activity_id, product_id, sku_id, activity_price) overriding system value
      select 1, id, 1, 1, 500 from made`;
    const buyer = await shop.shopper();
    const items = [{ sku_id: 1, activity_product_id: 1 }];
    const answer = await shop.call('POST', '/api/v1/orders/quote', { token: buyer.token, body: { items } });
    expect([answer.code, answer.message]).toEqual([20001, 'Activity product not found']);
    expect(await shop.call('GET', '/api/v1/marketing/activity-products/1')).toMatchObject({ code: 404 });
  } finally {
    await shop.close();
  }
});
