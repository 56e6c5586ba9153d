import { isoInZone } from '@tradepost/core';
import type { Track } from './track-store.ts';

/** An event as the API answers it. */
export const trackView = (track: Track, zone: string) => ({
  ...track,
  event_time: isoInZone(track.event_time, zone),
});
