export const shipmentTables: readonly string[] = ['fulfilment.shipments'];
