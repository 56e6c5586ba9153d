import { createHash } from 'node:crypto';
import type { CarrierNode } from '../drivers/driver.ts';

type Hashed = Pick<CarrierNode, 'event_time' | 'location' | 'status_code' | 'status_text'>;

/** Identifies an event of a shipment: SHA-1 over its fields with pipes between them. Carriers repeat all events with each answer. */
export function trackHash(shipmentId: number, { event_time, location, status_code, status_text }: Hashed): string {
  const seconds = Math.floor(event_time.getTime() / 1000);
  const fields = [shipmentId, seconds, location, status_code, status_text].map((field) => String(field).trim());
  return createHash('sha1').update(fields.join('|')).digest('hex');
}
