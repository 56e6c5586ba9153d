import type { Transaction } from '@tradepost/postgres';
import { stockColumns } from '../csv/csv-columns.ts';
import type { Group } from '../csv/csv-drafts.ts';
import type { Sku } from '../products/product.ts';
import type { StockOwner } from './stock-owner.ts';

type WithStock = {
  product?: { stock?: number | undefined } | undefined;
  sku_overrides?: { stock?: number | undefined }[] | undefined;
};

/** What a body says about stock is left out, not refused: clients send whole rows back as they were given them. */
export function withoutStock<T extends WithStock>(body: T): T {
  const { product, sku_overrides } = body;
  return {
    ...body,
    ...(product ? { product: { ...product, stock: undefined } } : {}),
    ...(sku_overrides ? { sku_overrides: sku_overrides.map((sku) => ({ ...sku, stock: undefined })) } : {}),
  };
}

/** Whether lines of a file say anything about stock. */
export const saysStock = ({ lines }: Group): boolean =>
  lines.some(({ cells }) => stockColumns.some((column) => (cells.get(column) ?? '').trim() !== ''));

/** The lines of a product as if the file had no columns about stock. */
export const withoutStockCells = (group: Group): Group => ({
  ...group,
  lines: group.lines.map(({ cells, ...line }) => ({
    ...line,
    cells: new Map([...cells].filter(([column]) => !stockColumns.includes(column))),
  })),
});

/** SKUs of `stored` that are new or have another stock than `before`, the rows as they were locked. */
export function movedStock(
  before: readonly Pick<Sku, 'id' | 'stock'>[],
  stored: readonly Pick<Sku, 'id' | 'stock'>[],
): Pick<Sku, 'id' | 'stock'>[] {
  const known = new Map(before.map((sku) => [sku.id, sku.stock]));
  return stored.filter((sku) => known.get(sku.id) !== sku.stock);
}

/** Tells the stockOwner, on the transaction that has written them, of SKUs that are new or whose stock was set. */
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
