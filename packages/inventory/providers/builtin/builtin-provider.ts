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
} from './builtin-store.ts';
import { deductCases, restoreCases } from './move-cases.ts';
import { candidatesBySku, pickWarehouses } from './pick-warehouses.ts';

const checkProvider = (tx: Transaction) => mustKeepStock(tx, 'in warehouses');

async function openStockSession(tx: Transaction, skuIds: readonly number[]): Promise<StockSession> {
  // Both statements are sent together. The second one reads the stock after the first has locked the SKUs.
  const [active, stock] = await Promise.all([lockSkus(tx, skuIds), selectEnabledStock(tx, skuIds)]);
  const activeSkus = new Set(active);
  const candidates = candidatesBySku(stock);
  const rows: StockReservation[] = [];
  return {
    reserve({ biz_no, lines, expires_at }): Reserved {
      const demand = summedBySku(lines);
      for (const sku_id of demand.keys())
        if (!activeSkus.has(sku_id)) return { ok: false, reason: 'sku_not_found', sku_id };
      const choice = pickWarehouses(demand, candidates);
      if ('missing' in choice) return { ok: false, reason: 'insufficient_stock', sku_id: choice.missing };
      for (const [sku_id, qty] of demand) {
        const stock = choice.picked.get(sku_id)!;
        stock.free -= qty;
        rows.push({ biz_no, sku_id, warehouse_id: stock.warehouse_id, qty, on_hand: stock.qty, expires_at });
      }
      return { ok: true, warehouse_ids: lines.map((line) => choice.picked.get(line.sku_id)!.warehouse_id) };
    },
    releaseDemand() {},
    statements: () => (rows.length > 0 ? [checkProvider(tx), insertStockReservations(tx, rows)] : []),
  };
}

/** Holds stock per warehouse and SKU: `qty` is on hand, `reserved_qty` is the part of it that open orders have reserved. */
export const builtinProvider: InventoryProvider = {
  name: 'builtin_wms',
  statusAfter: { reserve: 'reserved', confirm: 'confirmed', release: 'released' },
  openStockSession,
  confirm: (tx, bizNos) => [
    lockReservedSkus(tx, bizNos),
    checkProvider(tx),
    settleStockReservations(tx, bizNos, 'confirmed'),
  ],
  release: (tx, bizNos) => [
    lockReservedSkus(tx, bizNos),
    checkProvider(tx),
    settleStockReservations(tx, bizNos, 'released'),
  ],
  restore: restoreCases,
  deduct: deductCases,
};
