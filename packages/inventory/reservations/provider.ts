import type { RefusalFactory } from '@tradepost/core';
import type { Statement, Transaction } from '@tradepost/postgres';

export type InventoryStatus = 'none' | 'pending' | 'reserved' | 'confirmed' | 'released' | 'failed';

export type StockLine = { sku_id: number; qty: number };
/** The stock that one order needs. Several lines may have the same SKU. */
export type Demand = { biz_no: string; lines: readonly StockLine[]; expires_at: Date };

export type Reserved =
  | {
      ok: true;
      /** The warehouse of each line, in the order of the lines; 0 when the provider has no warehouses. */
      warehouse_ids: number[];
    }
  | { ok: false; reason: 'insufficient_stock' | 'sku_not_found'; sku_id: number };

/** The stock of some SKUs, locked until the transaction ends. */
export type StockSession = {
  /** Reserves all lines of the demand, or nothing. Demands are decided in the order of the calls. */
  reserve(demand: Demand): Reserved;
  /** Releases the pre-reservation of an order that is refused after all. The release takes effect when this transaction commits. */
  releaseDemand(bizNo: string, reason: string): void;
  /** The statements that write the reservations and releases. They are sent once, after the last `reserve`. */
  statements(): Statement[];
};

/** A SKU that an after-sale case moves. `warehouse_id`: where its order line was taken from; 0 when it was in no warehouse. */
export type CaseLine = StockLine & { warehouse_id: number };
/** The stock that one after-sale case moves. `biz_no` is the number of the case. */
export type CaseStock = { biz_no: string; lines: readonly CaseLine[] };
export type Deducted = true | 'insufficient_stock' | 'sku_not_found';

/** The inventory_status of an order after each operation was written. It is `pending` when a partner answers later. */
type StatusAfter = Readonly<Record<'reserve' | 'confirm' | 'release', InventoryStatus>>;

/**
 * The stock operations of orders (biz_type `order`): reserve, confirm, release. All operations take arrays and run on the
 * caller's transaction. They write rows and enqueue jobs, and never use the network. Writes are returned as statements, so that
 * the caller sends them together with its own statements and the commit.
 */
export type InventoryProvider = {
  readonly name: string;
  readonly statusAfter: StatusAfter;
  /** Locks the stock of these SKUs until the transaction ends. */
  openStockSession(tx: Transaction, skuIds: readonly number[]): Promise<StockSession>;
  /** The stock of these orders leaves. The caller has updated the orders with a guarded update, so each order is confirmed once. */
  confirm(tx: Transaction, bizNos: readonly string[]): Statement[];
  /** The stock of these orders is sellable again. */
  release(tx: Transaction, bizNos: readonly string[], reason: string): Statement[];
  /** Returned goods come into stock. Each case occurs once, each SKU once per case, and no case was restored before. */
  restore(tx: Transaction, cases: readonly CaseStock[], now: Date): Promise<Statement[]>;
  /** Goods leave for a re-shipment: all lines of a case or none, and never stock that orders have reserved. */
  deduct(tx: Transaction, cases: readonly CaseStock[], now: Date): Promise<Deducted[]>;
};

/**
 * The inventory operations that orders and after-sales use. Confirm and release go to the provider that an order was reserved
 * with, all other calls to the active provider.
 */
export type Inventory = Omit<InventoryProvider, 'confirm' | 'release' | 'restore' | 'deduct'> & {
  confirm(tx: Transaction, bizNos: readonly string[]): Promise<Statement[]>;
  release(tx: Transaction, bizNos: readonly string[], reason: string): Promise<Statement[]>;
  /**
   * Returned goods of after-sale cases come into stock. A repeat for the same case changes nothing. A SKU that does not exist any
   * more is left out. The caller sends the returned statements.
   */
  restore(tx: Transaction, cases: readonly CaseStock[]): Promise<Statement[]>;
  /**
   * Goods of after-sale cases leave for a re-shipment: all lines of a case or none. A repeat for the same case changes nothing and
   * succeeds. At an external warehouse the partner decides later: the outcome is true, and a refusal becomes a failed task.
   */
  deduct(tx: Transaction, cases: readonly CaseStock[]): Promise<Deducted[]>;
  readonly preReserve: PreReserve | null;
  /** The refusals that `preReserve` throws. */
  readonly preReserveRefusals: readonly RefusalFactory[];
  readonly notifyNow: NotifyNow | null;
};

/**
 * Reserves stock over the network before the order is written, or throws the refusal. When the order is not written within a
 * minute, the stock is released, also when this process dies.
 */
export type PreReserve = (demand: Omit<Demand, 'expires_at'>) => Promise<void>;

/**
 * Sends confirm or release for these orders to the partner, after the commit that wrote them. Resolves when the partner has
 * answered or the deadline of one call has passed. A worker delivers what was not sent.
 */
export type NotifyNow = (bizNos: readonly string[]) => Promise<void>;

/** Sets the column inventory_status of these orders, in the transaction that writes the stock ledger. */
export type WriteOrderStatus = (
  tx: Transaction,
  rows: readonly { order_no: string; status: InventoryStatus }[],
) => Statement;

/** The quantity per SKU. An order may have two lines of one SKU, with and without an activity. */
export function summedBySku(lines: readonly StockLine[]): Map<number, number> {
  const bySku = new Map<number, number>();
  for (const line of lines) bySku.set(line.sku_id, (bySku.get(line.sku_id) ?? 0) + line.qty);
  return bySku;
}

/** The lines with each SKU once and its quantities added up. */
export const summedItems = (lines: readonly StockLine[]): StockLine[] =>
  Array.from(summedBySku(lines), ([sku_id, qty]) => ({ sku_id, qty }));
