import { type Runtime, recordEvents } from '@tradepost/runtime';
import { maxLowStockEvents, maxScannedSkus, maxSearches } from '../limits.ts';
import { skuName } from '../stock/sku-name.ts';
import { deleteRecovered, insertLow, type LowSku, lockScan, saveScan, selectRangeEnd } from './low-stock-store.ts';
import { stockLow } from './stock-events.ts';

// The rows have no translations: events have the texts of the product itself.
const factsOf = (row: LowSku) => ({
  ...{ sku_id: row.sku_id, product_id: row.product_id, title: skuName(row, row.sku_id, 'en') },
  ...{ stock: row.stock, threshold: row.threshold },
});

type Deps = Pick<Runtime, 'sql' | 'now'>;
type Bounds = { readonly skus: number; readonly events: number };
const bounds: Bounds = { skus: maxScannedSkus, events: maxLowStockEvents };

/** One search: the number of its events, and whether SKUs are left that this round has not compared. */
function searchNext({ sql, now }: Deps, most: Bounds): Promise<{ events: number; isOver: boolean }> {
  return sql.begin(async (tx) => {
    const after = await lockScan(tx);
    if (after === null) return { events: 0, isOver: true };
    const end = await selectRangeEnd(tx, after, most.skus);
    const range = { after, upTo: end ?? Number.MAX_SAFE_INTEGER };
    await deleteRecovered(tx, range);
    const low = await insertLow(tx, range, most.events, now());
    if (low.length > 0) await recordEvents(tx, stockLow, low.map(factsOf), now());
    // Further SKUs of the range may be low: go on behind the last one that was reported.
    const next = low.length === most.events ? low.at(-1)!.sku_id : (end ?? 0);
    await saveScan(tx, next, after === 0 ? end !== null : null);
    return { events: low.length, isOver: next === 0 };
  });
}

/**
 * Compares the stock of the next SKUs with their limits, and records `stock.low` for those that have become low. The next call goes
 * on behind them; after the last SKU it begins again. Stock writes are not involved. Returns the number of events.
 */
export const reportLowStock = async (deps: Deps, most: Bounds = bounds): Promise<number> =>
  (await searchNext(deps, most)).events;

/** Searches until all SKUs are compared, at most `maxSearches` times and until there are many events. Returns their number. */
export async function reportAllLowStock(deps: Deps, signal: AbortSignal, most: Bounds = bounds): Promise<number> {
  let events = 0;
  for (let n = 0; n < maxSearches && events < most.events && !signal.aborted; n += 1) {
    const search = await searchNext(deps, most);
    events += search.events;
    if (search.isOver) break;
  }
  return events;
}
