import { enqueueNotices } from '@tradepost/identity';
import type { Inventory } from '@tradepost/inventory';
import type { ShippedOrder, ShippingHold } from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import { type Runtime, recordEvents } from '@tradepost/runtime';
import type { StartSync } from '../carriers/sync/sync-jobs.ts';
import { shippedEventOf, shippedFacts } from '../fulfilment-events.ts';
import { noticesOf } from './notices.ts';
import type { Parcel } from './parcel.ts';
import { insertShipments } from './shipment-store.ts';

export type RecordDeps = {
  readonly runtime: Pick<Runtime, 'sql' | 'settings' | 'config' | 'now'>;
  readonly startSync: StartSync;
  readonly holds: readonly ShippingHold[];
};
export type ShipDeps = RecordDeps & {
  /** The goods of an exchange leave the stock. */
  readonly inventory: Pick<Inventory, 'deduct'>;
};

/** A parcel that leaves. `case_id` is 0 for a first shipment. */
type Outbound = Parcel & { readonly order_id: number; readonly case_id: number };

/**
 * Writes the shipments of these orders, and enqueues the notices to their shoppers and the first query of the carriers, in the
 * transaction that has moved the orders. `shipped` has each order once.
 */
export async function recordShipments(
  tx: Transaction,
  { runtime, startSync }: Pick<RecordDeps, 'runtime' | 'startSync'>,
  parcels: readonly Outbound[],
  by: { biz_type: 'initial' | 'reship'; shipped: readonly ShippedOrder[]; staff_id: number },
): Promise<void> {
  if (parcels.length === 0) return;
  const { biz_type, shipped, staff_id } = by;
  const rows = parcels.map(({ case_id, ...parcel }) => ({
    ...parcel,
    after_sale_case_id: case_id,
    direction: 'outbound' as const,
    biz_type,
    logistics_status: 'shipped' as const,
    created_by_type: 'admin' as const,
    created_by_id: staff_id,
  }));
  const ids = await insertShipments(tx, rows, runtime.now());
  await startSync(
    tx,
    ids.filter((_, index) => rows[index]!.delivery_type === 'express'),
  );
  await recordEvents(tx, shippedEventOf[biz_type], shippedFacts(shipped, parcels, ids), runtime.now());
  await enqueueNotices(tx, runtime, noticesOf(biz_type, shipped, parcels));
}
