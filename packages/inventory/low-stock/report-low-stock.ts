import { type Runtime, recordEvents } from '@tradepost/runtime';
import { maxLowStockEvents, maxScannedSkus } from '../limits.ts';
import { skuName } from '../stock/sku-name.ts';
import { deleteRecovered, insertLow, type LowSku, lockScan, saveScan, selectRangeEnd } from './low-stock-store.ts';
import { stockLow } from './stock-events.ts';

// The rows have no translations: events have the texts of the product itself.
const factsOf = (row: LowSku) => ({
  ...{ sku_id: row.sku_id, product_id: row.product_id, title: skuName(row, row.sku_id, 'en') },
  ...{ stock: row.stock, threshold: row.threshold },
});

const bounds = { skus: maxScannedSkus, events: maxLowStockEvents };

/**
 * Compares the stock of the next SKUs with their limits, and records `stock.low` for those that have become low. The next call goes
 * on behind them; after the last SKU it begins again. Stock writes are not involved. Returns the number of events.
 */
export function reportLowStock(
  { sql, now }: Pick<Runtime, 'sql' | 'now'>,
  most: { readonly skus: number; readonly events: number } = bounds,
): Promise<number> {
  return sql.begin(async (tx) => {
    const after = await lockScan(tx);
    if (after === null) return 0;
    const end = await selectRangeEnd(tx, after, most.skus);
    const range = { after, upTo: end ?? Number.MAX_SAFE_INTEGER };
    await deleteRecovered(tx, range);
    const low = await insertLow(tx, range, most.events, now());
    if (low.length > 0) await recordEvents(tx, stockLow, low.map(factsOf), now());
    // Further SKUs of the range may be low: go on behind the last one that was reported.
    const next = low.length === most.events ? low.at(-1)!.sku_id : (end ?? 0);
    if (next !== after) await saveScan(tx, next);
    return low.length;
  });
}
