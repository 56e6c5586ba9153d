import { locales } from '@tradepost/core';

/** The columns of a catalogue file, in the order of the export. README.md says what each means. */
const perLanguage = (name: string) => locales.map((locale) => `${name}_${locale}`);

/** Of the product: said on any of its lines, the same where it is said twice. */
export const productColumns: readonly string[] = [
  ...['product_id', 'handle', 'status', 'sort', 'category', 'title', 'subtitle', 'price', 'origin_price', 'cover'],
  ...perLanguage('title'),
  ...perLanguage('subtitle'),
];
/** Of the product too, but long: the export writes them on its first line only. */
export const longColumns: readonly string[] = [
  ...['images', 'detail', 'category_detail'],
  ...perLanguage('detail'),
  ...perLanguage('specs'),
];
/** Left out where warehouses keep the stock. */
export const stockColumns: readonly string[] = ['stock', 'stock_before'];
/** Of the line's SKU. */
const skuColumns: readonly string[] = ['specs', 'sku_code', 'sku_price', ...stockColumns, 'sku_status'];
export const csvColumns: readonly string[] = [...productColumns, ...skuColumns, ...longColumns];
