import { id, idOrZero, lineText, timestamp, zeroWhenEmpty } from '@tradepost/http';
import { z } from 'zod';
import { typeLabels } from './ledger/log-views.ts';
import { pointsTypes } from './ledger/points-log.ts';
import { maxPoints, maxRemark } from './limits.ts';
import { enableOrderPoints, orderPointsRate, pointsExpireDays, pointsToYuan } from './settings.ts';

const typeText = pointsTypes.map((type) => `${type} ${typeLabels[type]!.en.toLowerCase()}`).join(', ');

export const pointsLogSchema = z
  .object({
    id: id(),
    user_id: id(),
    type: z
      .int()
      .min(1)
      .max(7)
      .describe(typeText)
      .meta({ examples: [4] }),
    type_label: z.string().meta({ examples: ['Order completed'] }),
    points: z
      .int()
      .describe('negative for less')
      .meta({ examples: [25] }),
    related_id: idOrZero().describe('the id of the order or exchange; 0 for none'),
    remark: z.string().meta({ examples: ['Order completed'] }),
    created_at: timestamp(),
  })
  .meta({ id: 'PointsLog' });

export const balanceView = z.object({ points: z.int().min(0) });

export const adjustBody = z.object({
  user_id: id(),
  points: z
    .int()
    .min(-maxPoints)
    .max(maxPoints)
    .refine((points) => points !== 0, { error: 'must not be 0' })
    .describe('the change, negative for less')
    .meta({ examples: [100] }),
  remark: lineText(maxRemark)
    .default('')
    .meta({ examples: ['Goodwill'] }),
});

export const statsView = z.object({
  total_issued: z.int().describe('all points that shoppers got, with those that orders and exchanges returned'),
  total_consumed: z.int().describe('all points that shoppers used or lost'),
  total_balance: z.int(),
  product_count: z.int(),
  exchange_count: z.int(),
  today_issued: z.int(),
  today_consumed: z.int(),
});

export const configView = z.object({
  points_to_yuan: z.int().meta({ examples: [100] }),
  order_points_rate: z.number().meta({ examples: [0.01] }),
  points_expire_days: z.int().meta({ examples: [0] }),
  enable_order_points: z.boolean(),
});

export const configBody = z.object({
  points_to_yuan: zeroWhenEmpty(pointsToYuan.schema.optional().meta({ examples: [100] })),
  order_points_rate: zeroWhenEmpty(orderPointsRate.schema.optional().meta({ examples: [0.01] })),
  points_expire_days: zeroWhenEmpty(pointsExpireDays.schema.optional().meta({ examples: [0] })),
  enable_order_points: enableOrderPoints.schema.optional(),
});
