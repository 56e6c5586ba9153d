import { isoInZone } from '@tradepost/core';

/** The calendar day of an instant in a zone: `2026-03-01`. */
export const dayIn = (at: Date, zone: string): string => isoInZone(at, zone).slice(0, 10);
