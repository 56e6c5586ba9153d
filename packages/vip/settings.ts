import { setting } from '@tradepost/runtime';
import { z } from 'zod';
import { claimDays } from './retention.ts';

export const vipUnpaidMinutes = setting(
  'vip.unpaid_minutes',
  z
    .number()
    .int()
    .min(1)
    .max(7 * 24 * 60),
  15,
  'minutes after which an unpaid purchase of a membership ends; money that arrives later is refunded',
);

export const vipSettings = [vipUnpaidMinutes, claimDays] as const;
