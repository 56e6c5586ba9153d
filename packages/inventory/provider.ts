import type { Statement, Transaction } from '@tradepost/runtime';

export type InventoryStatus = 'none' | 'pending' | 'reserved' | 'confirmed' | 'released' | 'failed';

type StockLine = { sku_id: number; qty: number };
/** What one order wants; the same SKU may stand in several lines. */
export type Demand = { biz_no: string; lines: readonly StockLine[]; expires_at: Date };

export type Reserved =
  | {
      ok: true /** The warehouse of each line, in the order of the lines; 0 where there is none. */;
      warehouse_ids: number[];
    }
  | { ok: false; reason: 'insufficient_stock' | 'sku_not_found'; sku_id: number };

/** The stock of some SKUs, locked until the transaction ends. */
export type StockHold = {
  /** Takes what the demand wants, or nothing. Demands are decided in the order of the calls. */
  reserve(demand: Demand): Reserved;
  /** Writes what was taken. To be sent once, after the last `reserve`. */
  statements(): Statement[];
};

/**
 * The three-phase stock transaction of orders (biz_type `order`). All phases take arrays and run on the caller's
 * transaction: they write rows, enqueue jobs, and never touch the network. What they write is handed back as statements,
 * so that the caller can send them together with its own and the commit.
 */
export type InventoryProvider = {
  readonly name: 'local' | 'builtin_wms' | 'external_wms';
  /** What an order's inventory_status is when the phase has been written; `pending` where the answer comes later. */
  readonly statusAfter: {
    readonly reserve: InventoryStatus;
    readonly confirm: InventoryStatus;
    readonly release: InventoryStatus;
  };
  /** Locks what demands on these SKUs may need. */
  hold(tx: Transaction, skuIds: readonly number[]): Promise<StockHold>;
  /** The stock of these orders leaves. The caller has moved the orders under its guard, so each comes once. */
  confirm(tx: Transaction, bizNos: readonly string[]): Statement[];
  /** The stock of these orders is free again. */
  release(tx: Transaction, bizNos: readonly string[], reason: string): Statement[];
};
