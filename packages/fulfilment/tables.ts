export const fulfilmentTables: readonly string[] = ['fulfilment.shipments'];
