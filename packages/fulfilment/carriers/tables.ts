import type { TableInChangeLog } from '@tradepost/runtime';

export const carrierTables: readonly string[] = ['fulfilment.shipment_tracks', 'fulfilment.shipment_sync_logs'];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const carriersInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'fulfilment.shipment_tracks': { unwatched: 'Written by carriers.' },
  'fulfilment.shipment_sync_logs': { unwatched: 'Written by queries of carriers.' },
};
