import { setting } from '@tradepost/runtime';
import { z } from 'zod';

export const unpaidMinutes = setting(
  'orders.unpaid_minutes',
  z
    .number()
    .int()
    .min(1)
    .max(7 * 24 * 60),
  15,
  'minutes after which an unpaid order is cancelled and its stock is free again',
);

export const orderSettings = [unpaidMinutes] as const;
