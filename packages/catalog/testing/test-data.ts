import { insertProduct } from '@tradepost/testing/shop';
import { type TestData, withoutConstraints } from '@tradepost/testing/test-data';

/** Two products with three SKUs in nested categories. */
const rows = `
  insert into catalog.categories (id, parent_id, name) overriding system value values (1, 0, 'Home'), (2, 1, 'Mugs'), (3, 2, 'Enamel');
  insert into catalog.products (id, category_id, title, price, favorite_count) overriding system value values (1, 2, 'Mug', 1000, 2), (2, 1, 'Jug', 500, 0);
  insert into catalog.favorites (user_id, product_id) values (1, 1), (2, 1);
  insert into catalog.product_skus (id, product_id, sku_key, price, stock, reserved_stock, sold) overriding system value
    values (1, 1, 'a', 1000, 10, 2, 5), (2, 1, 'b', 500, 10, 0, 1), (3, 2, 'c', 500, 0, 0, 3);`;

export const testData: TestData = {
  rows,
  auditCases: [
    [
      'catalog.sku_orphans',
      'its product is gone',
      `${withoutConstraints('catalog.product_skus')} update catalog.product_skus set product_id = 99 where id = 3`,
    ],
    ['catalog.favorite_counts', 'one too many', `update catalog.products set favorite_count = 3 where id = 1`],
    ['catalog.favorite_counts', 'one uncounted', `insert into catalog.favorites (user_id, product_id) values (1, 2)`],
    ['catalog.unpriced', 'a product', `update catalog.products set price = 0 where id = 1`],
    ['catalog.unpriced', 'a SKU', `update catalog.product_skus set price = 0 where id = 1`],
    ['catalog.category_cycles', 'below itself', `update catalog.categories set parent_id = 1 where id = 1`],
    ['catalog.category_cycles', 'in a circle', `update catalog.categories set parent_id = 3 where id = 1`],
    [
      'catalog.category_descendants',
      'one is missing',
      `delete from catalog.category_descendants where ancestor_id = 1 and category_id = 3`,
    ],
    [
      'catalog.category_descendants',
      'one too many',
      `insert into catalog.category_descendants (ancestor_id, category_id) values (3, 1)`,
    ],
    [
      'catalog.category_descendants',
      'of a category that is gone',
      `insert into catalog.category_descendants (ancestor_id, category_id) values (99, 99)`,
    ],
  ],
  makers: {
    products: ({ shop, repeat }, count, { large }) =>
      repeat(count, async () => {
        const { id } = await insertProduct(shop.database, { stocks: Array(large ? 20 : 1).fill(100) });
        return id;
      }),
    skus: async ({ shop }, count) => (await insertProduct(shop.database, { stocks: Array(count).fill(1_000) })).sku_ids,
  },
};
