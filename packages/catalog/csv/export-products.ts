import { locales } from '@tradepost/core';
import { amountCell, byteOrderMark, optionalTextCell, textCell, toCsv } from '@tradepost/csv';
import type { Sql } from '@tradepost/postgres';
import type { Detail } from '../products/product.ts';
import { defaultSkuKey } from '../products/sku-matrix.ts';
import { imagesCell, pairsCell, pathCell } from './csv-cells.ts';
import { csvColumns } from './csv-columns.ts';
import { type CategoryRow, type ExportedProduct, scanProducts, selectCategoryRows } from './csv-store.ts';

const batch = 500;
/** A deeper category is in a cycle of the data. */
const maxLevels = 10;

/** The categories from the root down to `id`. */
export function categoriesDownTo(id: number, byId: ReadonlyMap<number, CategoryRow>): CategoryRow[] {
  const path: CategoryRow[] = [];
  for (let at = byId.get(id); at && path.length < maxLevels; at = byId.get(at.parent_id)) path.unshift(at);
  return path;
}

const detailCell = (detail: Detail | undefined) => (detail ? JSON.stringify(detail) : '');

function shortCells(product: ExportedProduct, path: readonly CategoryRow[]): Record<string, string> {
  const { translations } = product;
  return {
    product_id: String(product.id),
    status: String(product.status),
    sort: String(product.sort),
    category: pathCell(path.map((category) => category.name)),
    title: textCell(product.title),
    subtitle: textCell(product.subtitle),
    price: amountCell(product.price),
    origin_price: amountCell(product.origin_price),
    cover: textCell(product.cover),
    ...Object.fromEntries(locales.map((l) => [`title_${l}`, optionalTextCell(translations[l]?.title)])),
    ...Object.fromEntries(locales.map((l) => [`subtitle_${l}`, optionalTextCell(translations[l]?.subtitle)])),
  };
}

function longCells(product: ExportedProduct, path: readonly CategoryRow[]): Record<string, string> {
  const { translations } = product;
  const specsCell = (words: Record<string, string> | undefined) =>
    words ? pairsCell(Object.entries(words).map(([name, value]) => ({ name, value }))) || '""' : '';
  return {
    images: imagesCell(product.images),
    detail: product.detail.blocks.length === 0 ? '' : detailCell(product.detail),
    category_detail:
      path.length === 0
        ? ''
        : JSON.stringify(
            path.map(({ icon, sort, status, translations: said }) => ({ icon, sort, status, translations: said })),
          ),
    ...Object.fromEntries(locales.map((l) => [`detail_${l}`, detailCell(translations[l]?.detail)])),
    ...Object.fromEntries(locales.map((l) => [`specs_${l}`, specsCell(translations[l]?.specs)])),
  };
}

function skuCells(product: ExportedProduct, sku: ExportedProduct['skus'][number]): Record<string, string> {
  // The default SKU has the price of the product. The price is written once, so it is edited in one place.
  const follows = sku.sku_key === defaultSkuKey && sku.price === product.price;
  return {
    specs: pairsCell(sku.attrs),
    sku_code: textCell(sku.sku_code),
    sku_price: follows ? '' : amountCell(sku.price),
    stock: String(sku.stock),
    stock_before: String(sku.stock),
    sku_status: sku.status,
  };
}

function rowsOf(product: ExportedProduct, byId: ReadonlyMap<number, CategoryRow>): string[][] {
  const path = categoriesDownTo(product.category_id, byId);
  const short = shortCells(product, path);
  const long = longCells(product, path);
  const skus = product.skus.map((sku) => skuCells(product, sku));
  return (skus.length > 0 ? skus : [{}]).map((sku: Record<string, string>, index) => {
    const cells: Record<string, string> = { ...short, ...sku, ...(index === 0 ? long : {}) };
    return csvColumns.map((column) => cells[column] ?? '');
  });
}

export type Exported = { products: number; skus: number };

/** The whole catalogue as CSV text in pieces, from one snapshot and in constant memory. */
export async function exportProducts(
  sql: Sql,
  write: (text: string) => Promise<void>,
  onProgress: (done: Exported) => void = () => {},
): Promise<Exported> {
  const done = { products: 0, skus: 0 };
  await sql.begin('isolation level repeatable read read only', async (tx) => {
    const byId = new Map((await selectCategoryRows(tx)).map((row) => [row.id, row]));
    await write(byteOrderMark + toCsv([csvColumns]));
    for await (const products of scanProducts(tx, batch)) {
      const rows = products.flatMap((product) => rowsOf(product, byId));
      await write(toCsv(rows));
      done.products += products.length;
      done.skus += products.reduce((sum, product) => sum + product.skus.length, 0);
      onProgress(done);
    }
  });
  return done;
}
