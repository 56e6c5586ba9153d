import { setting } from '@tradepost/runtime';
import { z } from 'zod';

/** Rates have four decimals: inside they are integers. */
export const rateScale = 10_000;

export const pointsToYuan = setting(
  'points.points_to_yuan',
  z.int().min(1).max(1_000_000),
  100,
  'points that are worth 1.00 when an order is paid with them',
);
export const orderPointsRate = setting(
  'points.order_points_rate',
  z
    .number()
    .min(0)
    .max(100)
    .refine((rate) => Number.isInteger(Number((rate * rateScale).toFixed(6))), {
      error: 'must have at most 4 decimals',
    }),
  0.01,
  'points for each 0.01 that was paid for a completed order: 0.01 is one point for 1.00',
);
export const pointsExpireDays = setting(
  'points.points_expire_days',
  z.int().min(0).max(36_500),
  0,
  'days after which points that were earned and not spent expire; 0 is never',
);
export const enableOrderPoints = setting(
  'points.enable_order_points',
  z.boolean(),
  true,
  'whether completed orders earn points',
);

export const pointsSettings = [pointsToYuan, orderPointsRate, pointsExpireDays, enableOrderPoints] as const;
