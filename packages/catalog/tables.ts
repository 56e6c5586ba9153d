export const catalogTables: readonly string[] = [
  'catalog.categories',
  'catalog.category_descendants',
  'catalog.products',
  'catalog.product_images',
  'catalog.product_skus',
  'catalog.spec_templates',
  'catalog.favorites',
];

/** The stock columns of SKUs, which the stock owner reads and writes, and the names of products. */
export const catalogPublishes: readonly string[] = ['catalog.sku_stock', 'catalog.product_names'];
