import { setting } from '@tradepost/runtime';
import { z } from 'zod';
import { inboxDays } from './retention.ts';

export const sendsPerMinute = setting(
  'inbox.sends_per_minute',
  z.number().int().min(1).max(10_000),
  120,
  'inbox messages that staff and the command line may send in a minute, all together',
);
export const broadcastsPerDay = setting(
  'inbox.broadcasts_per_day',
  z.number().int().min(1).max(1_000),
  100,
  'inbox messages to all shoppers that may be sent in 24 hours',
);

export const messageCentreSettings = [sendsPerMinute, broadcastsPerDay, inboxDays] as const;
