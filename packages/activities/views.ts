import { isoInZone } from '@tradepost/core';

/** The form of times in answers: ISO 8601 with the offset of the shop's time zone. */
export const isoFor = (zone: string) => (at: Date) => isoInZone(at, zone);
