import type { Transaction } from '@tradepost/postgres';
import {
  type CaseStock,
  type Deducted,
  type InventoryProvider,
  type Reserved,
  type StockSession,
  summedBySku,
} from '../../reservations/provider.ts';
import { mustKeepStock } from '../../reservations/provider-fence.ts';
import type { ReservationRow } from '../../reservations/reservation-store.ts';
import {
  changeSkuStock,
  insertReservations,
  lockExistingSkuStock,
  lockSkuStock,
  settleReservations,
} from './local-store.ts';

async function openStockSession(tx: Transaction, skuIds: readonly number[]): Promise<StockSession> {
  const left = new Map((await lockSkuStock(tx, skuIds)).map((row) => [row.id, row.sellable]));
  const rows: ReservationRow[] = [];
  const taken = new Map<number, number>();
  return {
    reserve(demand): Reserved {
      const bySku = summedBySku(demand.lines);
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
    },
    releaseDemand() {},
    statements: () => (rows.length > 0 ? [mustKeepStock(tx, 'on SKUs'), insertReservations(tx, rows, taken)] : []),
  };
}

const quantitiesOf = (cases: readonly CaseStock[]) => summedBySku(cases.flatMap((one) => one.lines));

async function deduct(tx: Transaction, cases: readonly CaseStock[]): Promise<Deducted[]> {
  const stock = await lockExistingSkuStock(tx, [...quantitiesOf(cases).keys()]);
  const left = new Map(stock.map((row) => [row.id, row.sellable]));
  const outcomes = cases.map(({ lines }): Deducted => {
    if (lines.some((line) => !left.has(line.sku_id))) return 'sku_not_found';
    if (lines.some((line) => left.get(line.sku_id)! < line.qty)) return 'insufficient_stock';
    for (const { sku_id, qty } of lines) left.set(sku_id, left.get(sku_id)! - qty);
    return true;
  });
  const taken = quantitiesOf(cases.filter((_, index) => outcomes[index] === true));
  if (taken.size === 0) return outcomes;
  await changeSkuStock(tx, new Map([...taken].map(([sku_id, qty]) => [sku_id, -qty])));
  await mustKeepStock(tx, 'on SKUs');
  return outcomes;
}

/** Holds stock on the SKU: `stock` is on hand, `reserved_stock` is the part of it that open orders have reserved. */
export const localProvider: InventoryProvider = {
  name: 'local',
  statusAfter: { reserve: 'reserved', confirm: 'confirmed', release: 'released' },
  openStockSession,
  confirm: (tx, bizNos) => [settleReservations(tx, bizNos, 'confirmed'), mustKeepStock(tx, 'on SKUs')],
  release: (tx, bizNos) => [settleReservations(tx, bizNos, 'released'), mustKeepStock(tx, 'on SKUs')],
  restore: async (tx, cases) => [changeSkuStock(tx, quantitiesOf(cases)), mustKeepStock(tx, 'on SKUs')],
  deduct,
};
