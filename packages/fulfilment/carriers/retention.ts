import { type RetentionRule, retentionDays } from '@tradepost/runtime';

const logDays = retentionDays('shipment_sync_logs', 30, 'rows about queries of carriers');
export const carrierRetentionSettings = [logDays] as const;

export const carrierRetention: readonly RetentionRule[] = [
  {
    name: 'shipment_sync_logs',
    about: 'queries of carriers, with their results',
    table: 'fulfilment.shipment_sync_logs',
    age: 't.created_at',
    days: logDays,
  },
];
