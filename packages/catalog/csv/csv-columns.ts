import { locales } from '@tradepost/core';
import type { CsvFormat } from '@tradepost/csv';

/** The columns of a catalogue file in the order of the export. CSV.md describes each. */
const perLanguage = (name: string) => locales.map((locale) => `${name}_${locale}`);

/** Columns of the product. They may be on any of its lines, and must be equal where they are repeated. */
export const productColumns: readonly string[] = [
  ...['product_id', 'handle', 'status', 'sort', 'category', 'title', 'subtitle', 'price', 'origin_price', 'cover'],
  ...perLanguage('title'),
  ...perLanguage('subtitle'),
];
/** Long columns of the product. The export writes them on its first line only. */
export const longColumns: readonly string[] = [
  ...['images', 'detail', 'category_detail'],
  ...perLanguage('detail'),
  ...perLanguage('specs'),
];
/** Left out when warehouses own the stock. */
export const stockColumns: readonly string[] = ['stock', 'stock_before'];
/** Columns of the SKU of the line. */
const skuColumns: readonly string[] = ['specs', 'sku_code', 'sku_price', ...stockColumns, 'sku_status'];
export const csvColumns: readonly string[] = [...productColumns, ...skuColumns, ...longColumns];

export const catalogCsv: CsvFormat = { columns: csvColumns, needs: [['product_id', 'handle']] };
