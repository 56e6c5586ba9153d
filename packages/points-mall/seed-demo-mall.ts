import type { DemoSeed } from '@tradepost/module';
import type { ProductFields } from './products/product.ts';
import { countProducts, insertProducts } from './products/product-store.ts';

const plain = {
  ...{ images: [], status: 1, coupon_id: 0, virtual_content: '', limit_per_user: 0, limit_per_day: 0 },
} as const satisfies Partial<ProductFields> & { images: never[] };

const products: readonly ProductFields[] = [
  {
    ...plain,
    images: [],
    ...{ title: 'Enamel mug', type: 'physical', points_price: 300, stock_limit: 50, sort: 30, limit_per_user: 2 },
    ...{
      cover: '/uploads/demo/enamel-mug.svg',
      description: 'Holds 300 ml. Sent to your address.',
      need_address: true,
    },
  },
  {
    ...plain,
    images: [],
    ...{ title: 'Tote bag', type: 'physical', points_price: 180, stock_limit: null, sort: 20, limit_per_day: 1 },
    ...{ cover: '', description: 'Cotton, with the name of the shop.', need_address: true },
  },
  {
    ...plain,
    images: [],
    ...{ title: 'Wallpaper set', type: 'virtual', points_price: 20, stock_limit: null, sort: 10, limit_per_user: 1 },
    ...{ cover: '', description: 'Ten pictures for your phone.', need_address: false },
    virtual_content: 'Download code: DEMO-WALLPAPER',
  },
];

/** Three products for points: goods with a stock, goods without a limit, and a virtual product. */
export const mallDemo: DemoSeed = {
  isEmpty: async (sql) => (await countProducts(sql)) === 0,
  async write(tx) {
    await insertProducts(tx, products, new Date());
    return {};
  },
};
