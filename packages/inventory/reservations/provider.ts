import type { RefusalFactory } from '@tradepost/core';
import type { Statement, Transaction } from '@tradepost/postgres';

export type InventoryStatus = 'none' | 'pending' | 'reserved' | 'confirmed' | 'released' | 'failed';

export type StockLine = { sku_id: number; qty: number };
/** What one order wants; the same SKU may stand in several lines. */
export type Demand = { biz_no: string; lines: readonly StockLine[]; expires_at: Date };

export type Reserved =
  | {
      ok: true /** The warehouse of each line, in the order of the lines; 0 where there is none. */;
      warehouse_ids: number[];
    }
  | { ok: false; reason: 'insufficient_stock' | 'sku_not_found'; sku_id: number };

/** The stock of some SKUs, locked until the transaction ends. */
export type StockSession = {
  /** Takes what the demand wants, or nothing. Demands are decided in the order of the calls. */
  reserve(demand: Demand): Reserved;
  /** Of a demand that was reserved ahead and is refused after all: its stock goes back when this transaction commits. */
  releaseDemand(bizNo: string, reason: string): void;
  /** Writes what was taken and given back. To be sent once, after the last `reserve`. */
  statements(): Statement[];
};

/** What an order's inventory_status is when the phase has been written; `pending` where the answer comes later. */
type StatusAfter = Readonly<Record<'reserve' | 'confirm' | 'release', InventoryStatus>>;

/**
 * The three-phase stock transaction of orders (biz_type `order`). All phases take arrays and run on the caller's
 * transaction: they write rows, enqueue jobs, and never touch the network. What they write is handed back as statements,
 * so that the caller can send them together with its own and the commit.
 */
export type InventoryProvider = {
  readonly name: string;
  readonly statusAfter: StatusAfter;
  /** Locks what demands on these SKUs may need. */
  openStockSession(tx: Transaction, skuIds: readonly number[]): Promise<StockSession>;
  /** The stock of these orders leaves. The caller has moved the orders under its guard, so each comes once. */
  confirm(tx: Transaction, bizNos: readonly string[]): Statement[];
  /** The stock of these orders is free again. */
  release(tx: Transaction, bizNos: readonly string[], reason: string): Statement[];
};

/**
 * The inventory operations that orders use. Confirm and release go to the provider that an order was reserved with, all
 * other calls to the active provider.
 */
export type Inventory = Omit<InventoryProvider, 'confirm' | 'release'> & {
  confirm(tx: Transaction, bizNos: readonly string[]): Promise<Statement[]>;
  release(tx: Transaction, bizNos: readonly string[], reason: string): Promise<Statement[]>;
  readonly preReserve: PreReserve | null;
  /** The refusals that `preReserve` throws. */
  readonly preReserveRefusals: readonly RefusalFactory[];
  readonly notifyNow: NotifyNow | null;
};

/**
 * Reserves stock over the network before the order is written, or throws the refusal. Stock that is reserved without an
 * order being written within a minute is released, whatever happens to this process.
 */
export type PreReserve = (demand: Omit<Demand, 'expires_at'>) => Promise<void>;

/**
 * Sends confirm or release for these orders to the partner, after the commit that wrote them. Resolves when the partner has
 * answered or the time for one call is over; a worker delivers the rest.
 */
export type NotifyNow = (bizNos: readonly string[]) => Promise<void>;

/** Sets the inventory_status of these orders: the column of orders, written in the transaction that writes the stock ledger. */
export type WriteOrderStatus = (
  tx: Transaction,
  rows: readonly { order_no: string; status: InventoryStatus }[],
) => Statement;

/** Pieces per SKU: an order may name one SKU in two lines (with and without an activity). */
export function summedBySku(lines: readonly StockLine[]): Map<number, number> {
  const bySku = new Map<number, number>();
  for (const line of lines) bySku.set(line.sku_id, (bySku.get(line.sku_id) ?? 0) + line.qty);
  return bySku;
}

/** The same as items of a call: each SKU once. */
export const summedItems = (lines: readonly StockLine[]): StockLine[] =>
  Array.from(summedBySku(lines), ([sku_id, qty]) => ({ sku_id, qty }));
