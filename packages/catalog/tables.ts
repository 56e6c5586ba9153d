import type { TableInChangeLog } from '@tradepost/runtime';

export const catalogTables: readonly string[] = [
  'catalog.categories',
  'catalog.category_descendants',
  'catalog.products',
  'catalog.product_images',
  'catalog.product_skus',
  'catalog.spec_templates',
  'catalog.favorites',
];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const catalogInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'catalog.categories': { en: 'category', 'zh-CN': '分类' },
  'catalog.category_descendants': { unwatched: 'Derived from the categories.' },
  'catalog.products': { en: 'product', 'zh-CN': '商品' },
  'catalog.product_images': { en: 'product picture', 'zh-CN': '商品图片' },
  'catalog.product_skus': { en: 'SKU', 'zh-CN': 'SKU' },
  'catalog.spec_templates': { en: 'spec template', 'zh-CN': '规格模板' },
  'catalog.favorites': { unwatched: 'Rows of shoppers.' },
};
/** The stock columns of SKUs, which the stock owner reads and writes, names and facts of goods, and the text search. */
export const catalogPublishes: readonly string[] = [
  'catalog.sku_stock',
  'catalog.product_names',
  'catalog.product_facts',
  'catalog.sku_facts',
  'catalog.category_names',
  'catalog.product_cards',
  'catalog.sku_cards',
  'catalog.category_branches',
  'catalog.search_text',
];
