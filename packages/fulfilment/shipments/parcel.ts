import type { Settings } from '@tradepost/runtime';
import { shipmentErrors } from './errors.ts';
import { defaultRiderName, defaultRiderPhone, deliveryMode } from './settings.ts';
import type { Shipment } from './shipment.ts';

/** A parcel that an administrator sends, with its carrier or its rider. */
export type Parcel = Pick<
  Shipment,
  'delivery_type' | 'company' | 'tracking_no' | 'rider_name' | 'rider_phone' | 'remark'
>;

/** The parcel with its carrier code in upper case. A local delivery that names no rider gets the default rider. */
export function completeParcel<T extends Parcel>(parcel: T, settings: Pick<Settings, 'get'>): T {
  const complete = { ...parcel, company: parcel.company.toUpperCase() };
  if (parcel.delivery_type === 'express') return complete;
  return {
    ...complete,
    rider_name: parcel.rider_name || settings.get(defaultRiderName),
    rider_phone: parcel.rider_phone || settings.get(defaultRiderPhone),
  };
}

/** The refusal of a parcel that is incomplete or that the delivery mode excludes. Null when it can be sent. */
export function parcelRefusal(parcel: Parcel, settings: Pick<Settings, 'get'>): Error | null {
  const mode = settings.get(deliveryMode);
  if (mode !== 'both' && mode !== parcel.delivery_type) return shipmentErrors.unsupported_delivery_type();
  if (parcel.delivery_type === 'express') {
    if (!parcel.company) return shipmentErrors.company_required();
    if (!parcel.tracking_no) return shipmentErrors.tracking_no_required();
    return null;
  }
  if (!parcel.rider_name) return shipmentErrors.rider_name_required();
  if (!parcel.rider_phone) return shipmentErrors.rider_phone_required();
  return null;
}
