import type { AppError } from '@tradepost/core';
import type { DocType } from '../documents/document-hooks.ts';
import { inventoryErrors } from '../errors.ts';
import { summedBySku } from '../reservations/provider.ts';

/** The largest value of a quantity column. */
export const maxQuantity = 2_147_483_647;

/** A document to complete. `summed`: the sums on SKUs include the stock of its warehouse. */
export type Moving = {
  doc_id: number;
  doc_no: string;
  doc_type: DocType;
  warehouse_id: number;
  summed: boolean;
  items: readonly { sku_id: number; qty: number }[];
};
export type StockLevel = { warehouse_id: number; sku_id: number; qty: number; reserved_qty: number };
/** A SKU. `stock` is the sum over the enabled warehouses when SKUs carry it. */
export type KnownSku = { id: number; title: string; stock: number };

type Movement = {
  warehouse_id: number;
  sku_id: number;
  biz_type: DocType;
  change_qty: number;
  before_qty: number;
  after_qty: number;
  doc_id: number;
  doc_no: string;
};
/** The rows to write: the new quantities, the changes of the sums on SKUs, and a movement per item. */
export type StockMoves = {
  levels: { warehouse_id: number; sku_id: number; qty: number }[];
  sums: Map<number, number>;
  movements: Movement[];
};

export const skusOf = (documents: readonly Pick<Moving, 'items'>[]): number[] => [
  ...new Set(documents.flatMap((document) => document.items.map((item) => item.sku_id))),
];

const keyOf = (warehouseId: number, skuId: number) => `${warehouseId} ${skuId}`;

/**
 * Decides documents in their order on locked stock. A document moves all its items or none. Items of one SKU are summed for the
 * decision. Reserved stock cannot leave. `outcomes` has null or the refusal for each document.
 */
export function planMoves(
  documents: readonly Moving[],
  known: readonly KnownSku[],
  levels: readonly StockLevel[],
): { outcomes: (AppError | null)[]; moves: StockMoves } {
  const skus = new Map(known.map((sku) => [sku.id, { ...sku }]));
  const stock = new Map(levels.map((level) => [keyOf(level.warehouse_id, level.sku_id), { ...level }]));
  const changed = new Map<string, StockLevel>();
  const moves: StockMoves = { levels: [], sums: new Map(), movements: [] };

  const levelOf = (warehouse_id: number, sku_id: number): StockLevel =>
    stock.get(keyOf(warehouse_id, sku_id)) ?? { warehouse_id, sku_id, qty: 0, reserved_qty: 0 };

  function refusalOf({ doc_type, warehouse_id, summed, items }: Moving): AppError | null {
    for (const [sku_id, qty] of summedBySku(items)) {
      const sku = skus.get(sku_id);
      if (!sku) return inventoryErrors.no_such_sku({ sku_id });
      const { qty: on_hand, reserved_qty: reserved } = levelOf(warehouse_id, sku_id);
      const free = on_hand - reserved;
      const { title } = sku;
      if (doc_type === 'outbound' && free < qty)
        return inventoryErrors.insufficient_free_stock({ title, sku_id, qty, free, on_hand, reserved });
      if (doc_type === 'inbound' && (on_hand + qty > maxQuantity || (summed && sku.stock + qty > maxQuantity)))
        return inventoryErrors.stock_too_large({ title, sku_id, max: maxQuantity });
    }
    return null;
  }

  function move({ doc_id, doc_no, doc_type, warehouse_id, summed, items }: Moving): void {
    for (const { sku_id, qty } of items) {
      const level = levelOf(warehouse_id, sku_id);
      const change_qty = doc_type === 'inbound' ? qty : -qty;
      const after_qty = level.qty + change_qty;
      moves.movements.push({
        ...{ warehouse_id, sku_id, biz_type: doc_type, change_qty },
        ...{ before_qty: level.qty, after_qty, doc_id, doc_no },
      });
      const now = { ...level, qty: after_qty };
      stock.set(keyOf(warehouse_id, sku_id), now);
      changed.set(keyOf(warehouse_id, sku_id), now);
      if (!summed) continue;
      skus.get(sku_id)!.stock += change_qty;
      moves.sums.set(sku_id, (moves.sums.get(sku_id) ?? 0) + change_qty);
    }
  }

  const outcomes = documents.map((document) => {
    const refusal = refusalOf(document);
    if (!refusal) move(document);
    return refusal;
  });
  moves.levels = [...changed.values()].map(({ warehouse_id, sku_id, qty }) => ({ warehouse_id, sku_id, qty }));
  return { outcomes, moves };
}
