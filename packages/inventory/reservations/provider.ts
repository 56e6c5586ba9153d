import type { RefusalFactory } from '@tradepost/core';
import type { Statement, Transaction } from '@tradepost/postgres';
import type { ProviderName } from '../settings.ts';

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
export type StockHold = {
  /** Takes what the demand wants, or nothing. Demands are decided in the order of the calls. */
  reserve(demand: Demand): Reserved;
  /** Of a demand that was reserved ahead and is refused after all: its stock goes back when this transaction commits. */
  giveBack(bizNo: string, reason: string): void;
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
  readonly name: ProviderName;
  readonly statusAfter: StatusAfter;
  /** Locks what demands on these SKUs may need. */
  hold(tx: Transaction, skuIds: readonly number[]): Promise<StockHold>;
  /** The stock of these orders leaves. The caller has moved the orders under its guard, so each comes once. */
  confirm(tx: Transaction, bizNos: readonly string[]): Statement[];
  /** The stock of these orders is free again. */
  release(tx: Transaction, bizNos: readonly string[], reason: string): Statement[];
};

/** What a shop's stock is asked and told by orders: the provider in force, and an earlier one for the orders it holds. */
export type Inventory = Omit<InventoryProvider, 'confirm' | 'release'> & {
  confirm(tx: Transaction, bizNos: readonly string[]): Promise<Statement[]>;
  release(tx: Transaction, bizNos: readonly string[], reason: string): Promise<Statement[]>;
  /**
   * Where stock is taken over the network before the order is written: reserves it, or throws the refusal. What is
   * reserved and not written within a minute is released, whatever happens to this process.
   */
  readonly reserveAhead: ((demand: Omit<Demand, 'expires_at'>) => Promise<void>) | null;
  /** The refusals that `reserveAhead` throws. */
  readonly aheadRefusals: readonly RefusalFactory[];
  /**
   * Where a partner is told at once (sync): tells it of these orders' confirm or release, after the commit that wrote them,
   * and answers when it is done or a call's time is over; what is left then is a worker's. For who waits for the outcome.
   */
  readonly tellNow: ((bizNos: readonly string[]) => Promise<void>) | null;
};

/** Sets the inventory_status of these orders; orders' own column, written in the transaction of the books here. */
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
