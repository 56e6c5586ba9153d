import type { Transaction } from '@tradepost/runtime';
import { insertReservations, lockSkuStock, type ReservationRow, settleReservations } from './local-store.ts';
import type { Demand, InventoryProvider, Reserved } from './provider.ts';

/** Demand per SKU: an order may name one SKU in two lines (with and without an activity). */
function summed(demand: Demand): Map<number, number> {
  const bySku = new Map<number, number>();
  for (const line of demand.lines) bySku.set(line.sku_id, (bySku.get(line.sku_id) ?? 0) + line.qty);
  return bySku;
}

async function reserve(tx: Transaction, demands: readonly Demand[]): Promise<Reserved[]> {
  const wanted = demands.map(summed);
  const skuIds = [...new Set(wanted.flatMap((bySku) => [...bySku.keys()]))];
  if (skuIds.length === 0) return demands.map(() => ({ ok: true, warehouse_ids: [] }));
  const left = new Map((await lockSkuStock(tx, skuIds)).map((row) => [row.id, row.sellable]));
  const rows: ReservationRow[] = [];
  const taken = new Map<number, number>();
  const answers = demands.map((demand, index): Reserved => {
    const bySku = wanted[index]!;
    for (const [sku_id, qty] of bySku) {
      const sellable = left.get(sku_id);
      if (sellable === undefined) return { ok: false, reason: 'sku_not_found', sku_id };
      if (sellable < qty) return { ok: false, reason: 'insufficient_stock', sku_id };
    }
    for (const [sku_id, qty] of bySku) {
      left.set(sku_id, left.get(sku_id)! - qty);
      taken.set(sku_id, (taken.get(sku_id) ?? 0) + qty);
      rows.push({ biz_no: demand.biz_no, sku_id, qty, expires_at: demand.expires_at });
    }
    return { ok: true, warehouse_ids: demand.lines.map(() => 0) };
  });
  if (rows.length > 0) await insertReservations(tx, rows, taken);
  return answers;
}

/** Stock kept on the SKU itself: `stock` on hand, `reserved_stock` the part that open orders hold. */
export const localProvider: InventoryProvider = {
  name: 'local',
  statusAfter: { reserve: 'reserved', confirm: 'confirmed', release: 'released' },
  reserve,
  async confirm(tx, bizNos) {
    const settled = await settleReservations(tx, bizNos, 'confirmed', '');
    // An order that was moved from unpaid to paid has held its stock all the time: without it the books are broken.
    if (settled < bizNos.length)
      throw new Error(`${bizNos.length} orders to confirm, only ${settled} reservations open`);
  },
  async release(tx, bizNos, reason) {
    await settleReservations(tx, bizNos, 'released', reason);
  },
};
