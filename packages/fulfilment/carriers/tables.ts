export const carrierTables: readonly string[] = ['fulfilment.shipment_tracks', 'fulfilment.shipment_sync_logs'];
