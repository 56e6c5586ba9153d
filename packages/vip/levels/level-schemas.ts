import { id, timestamp, zeroWhenEmpty } from '@tradepost/http';
import { z } from 'zod';
import { name, rateIn, rateOut, rateToWire, status } from '../fields.ts';
import { maxGrowth } from '../limits.ts';
import type { Level } from './level-store.ts';

const growth = () =>
  z
    .int()
    .min(0)
    .max(maxGrowth)
    .meta({ examples: [1000] });
const sort = () =>
  z
    .int()
    .min(-1_000_000)
    .max(1_000_000)
    .meta({ examples: [10] });
const fields = {
  growth_min: zeroWhenEmpty(growth()).optional(),
  growth_threshold: zeroWhenEmpty(growth()).optional().meta({ description: 'another name of growth_min' }),
  discount_rate: rateIn()
    .optional()
    .meta({ description: 'shown to shoppers; prices come from the member prices of SKUs' }),
  benefit_json: z
    .object({ discount_rate: rateIn().optional() })
    .optional()
    .meta({ description: 'another place of discount_rate', examples: [{ discount_rate: 0.9 }] }),
  sort: zeroWhenEmpty(sort()).optional(),
  status: status().optional(),
};
export const levelBody = z
  .object({ name: name('Gold'), ...fields })
  .refine((body) => (body.growth_min ?? body.growth_threshold) !== undefined, {
    params: { fault: 'missing' },
    path: ['growth_min'],
  });
export const levelChange = z.object({ name: name('Gold').optional(), ...fields });

export const levelSchema = z
  .object({
    id: id(),
    name: z.string().meta({ examples: ['Gold'] }),
    growth_min: growth(),
    growth_threshold: growth(),
    discount_rate: rateOut(),
    benefit_json: z.object({ discount_rate: rateOut() }),
    sort: sort(),
    status: status(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'VipLevel' });

export function levelView(level: Level, iso: (at: Date) => string) {
  const discount_rate = rateToWire(level.discount_rate);
  return {
    ...{ id: level.id, name: level.name, growth_min: level.growth_threshold, growth_threshold: level.growth_threshold },
    ...{ discount_rate, benefit_json: { discount_rate }, sort: level.sort, status: level.status },
    ...{ created_at: iso(level.created_at), updated_at: iso(level.updated_at) },
  };
}
