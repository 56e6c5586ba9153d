import type { TableInChangeLog } from '@tradepost/runtime';

export const shipmentTables: readonly string[] = ['fulfilment.shipments'];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const shipmentsInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'fulfilment.shipments': { en: 'shipment', 'zh-CN': '包裹' },
};
