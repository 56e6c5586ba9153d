import type { Transaction } from '@tradepost/postgres';
import { stockColumns } from '../csv/csv-columns.ts';
import type { Group } from '../csv/csv-drafts.ts';
import type { Sku } from '../products/product.ts';
import type { StockOwner } from './stock-owner.ts';

type WithStock = {
  product?: { stock?: number | undefined } | undefined;
  sku_overrides?: { stock?: number | undefined }[] | undefined;
};

/** Removes fields about stock from a body. They are not refused, because clients send whole rows back. */
export function withoutStock<T extends WithStock>(body: T): T {
  const { product, sku_overrides } = body;
  return {
    ...body,
    ...(product ? { product: { ...product, stock: undefined } } : {}),
    ...(sku_overrides ? { sku_overrides: sku_overrides.map((sku) => ({ ...sku, stock: undefined })) } : {}),
  };
}

/** True when lines of a file have values for stock. */
export const hasStockCells = ({ lines }: Group): boolean =>
  lines.some(({ cells }) => stockColumns.some((column) => (cells.get(column) ?? '').trim() !== ''));

/** The lines of a product, as if the file had no stock columns. */
export const withoutStockCells = (group: Group): Group => ({
  ...group,
  lines: group.lines.map(({ cells, ...line }) => ({
    ...line,
    cells: new Map([...cells].filter(([column]) => !stockColumns.includes(column))),
  })),
});

/** SKUs of `stored` that are new, or whose stock differs from `before`, the rows as they were locked. */
export function changedStock(
  before: readonly Pick<Sku, 'id' | 'stock'>[],
  stored: readonly Pick<Sku, 'id' | 'stock'>[],
): Pick<Sku, 'id' | 'stock'>[] {
  const known = new Map(before.map((sku) => [sku.id, sku.stock]));
  return stored.filter((sku) => known.get(sku.id) !== sku.stock);
}

/** Notifies the stock owner of SKUs that are new or whose stock was set, on the transaction that wrote them. */
export async function announceStock(
  tx: Transaction,
  stockOwner: StockOwner,
  skus: readonly Pick<Sku, 'id' | 'stock'>[],
): Promise<void> {
  if (!stockOwner.announce || skus.length === 0) return;
  const statements = stockOwner.announce(
    tx,
    skus.map(({ id, stock }) => ({ sku_id: id, stock })),
  );
  for (const statement of statements) await statement;
}
