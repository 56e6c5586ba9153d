import type { ShipmentView } from '../schemas.ts';

/** The carrier and the tracking number, or the rider. */
export function parcelText(shipment: ShipmentView): string {
  const parts =
    shipment.delivery_type === 'local'
      ? [shipment.delivery_type_label, shipment.rider_name, shipment.rider_phone]
      : [shipment.company_label, shipment.tracking_no];
  return parts.filter(Boolean).join(' ');
}
