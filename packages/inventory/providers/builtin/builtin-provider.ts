import type { Transaction } from '@tradepost/postgres';
import { type InventoryProvider, type Reserved, type StockSession, summedBySku } from '../../reservations/provider.ts';
import { mustKeepStock } from '../../reservations/provider-fence.ts';
import {
  insertStockReservations,
  lockReservedSkus,
  lockSkus,
  type StockReservation,
  selectEnabledStock,
  settleStockReservations,
  type WarehouseStock,
} from './builtin-store.ts';

type Shelf = WarehouseStock & { left: number };

/**
 * Which warehouse serves each SKU of a demand: the first one that can serve them all, else for each SKU the first one that
 * can serve it; null when a SKU is in none. `shelves` are in the order of warehouses.
 */
function pickWarehouses(
  demand: ReadonlyMap<number, number>,
  shelves: ReadonlyMap<number, readonly Shelf[]>,
): { picked: Map<number, Shelf> } | { missing: number } {
  const serving = new Map<number, Shelf[]>();
  for (const [sku_id, qty] of demand) {
    const able = (shelves.get(sku_id) ?? []).filter((shelf) => shelf.left >= qty);
    if (able.length === 0) return { missing: sku_id };
    serving.set(sku_id, able);
  }
  const [first = []] = serving.values();
  const whole = first.find((candidate) =>
    [...serving.values()].every((able) => able.some((shelf) => shelf.warehouse_id === candidate.warehouse_id)),
  );
  const picked = new Map<number, Shelf>();
  for (const [sku_id, able] of serving)
    picked.set(sku_id, (whole && able.find((shelf) => shelf.warehouse_id === whole.warehouse_id)) ?? able[0]!);
  return { picked };
}

const inForce = (tx: Transaction) => mustKeepStock(tx, 'in warehouses');

async function openStockSession(tx: Transaction, skuIds: readonly number[]): Promise<StockSession> {
  // Sent together; the second is read after the first has its locks.
  const [active, stock] = await Promise.all([lockSkus(tx, skuIds), selectEnabledStock(tx, skuIds)]);
  const known = new Set(active);
  const shelves = new Map<number, Shelf[]>();
  for (const row of stock) {
    const shelf = { ...row, left: row.qty - row.reserved_qty };
    const others = shelves.get(row.sku_id);
    if (others) others.push(shelf);
    else shelves.set(row.sku_id, [shelf]);
  }
  const rows: StockReservation[] = [];
  return {
    reserve({ biz_no, lines, expires_at }): Reserved {
      const demand = summedBySku(lines);
      for (const sku_id of demand.keys()) if (!known.has(sku_id)) return { ok: false, reason: 'sku_not_found', sku_id };
      const choice = pickWarehouses(demand, shelves);
      if ('missing' in choice) return { ok: false, reason: 'insufficient_stock', sku_id: choice.missing };
      for (const [sku_id, qty] of demand) {
        const shelf = choice.picked.get(sku_id)!;
        shelf.left -= qty;
        rows.push({ biz_no, sku_id, warehouse_id: shelf.warehouse_id, qty, on_hand: shelf.qty, expires_at });
      }
      return { ok: true, warehouse_ids: lines.map((line) => choice.picked.get(line.sku_id)!.warehouse_id) };
    },
    releaseDemand() {},
    statements: () => (rows.length > 0 ? [inForce(tx), insertStockReservations(tx, rows)] : []),
  };
}

/** Stock kept per warehouse: `qty` on hand, `reserved_qty` the part that open orders hold. */
export const builtinProvider: InventoryProvider = {
  name: 'builtin_wms',
  statusAfter: { reserve: 'reserved', confirm: 'confirmed', release: 'released' },
  openStockSession,
  confirm: (tx, bizNos) => [
    lockReservedSkus(tx, bizNos),
    inForce(tx),
    settleStockReservations(tx, bizNos, 'confirmed'),
  ],
  release: (tx, bizNos) => [lockReservedSkus(tx, bizNos), inForce(tx), settleStockReservations(tx, bizNos, 'released')],
};
