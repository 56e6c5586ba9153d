import type { Shipment } from '../../shipments/shipment.ts';
import type { CarrierStatus } from '../drivers/driver.ts';

/**
 * The states that a carrier may move a shipment from. A shipment never goes back: an answer with an earlier state changes
 * nothing. A shipment with a problem can go on, and nothing moves one that was signed for.
 */
export const mayComeFrom = {
  shipped: ['pending'],
  in_transit: ['pending', 'shipped', 'exception'],
  exception: ['pending', 'shipped', 'in_transit'],
  signed: ['pending', 'shipped', 'in_transit', 'exception'],
} as const satisfies Record<CarrierStatus, readonly Shipment['logistics_status'][]>;
