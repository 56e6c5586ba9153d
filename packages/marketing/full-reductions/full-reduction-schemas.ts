import { amount, amountInput, bit, id, list, pageQueryWith, timestamp } from '@tradepost/http';
import { z } from 'zod';
import { keywordFilter, nameInput, statusFilter, timeInput } from '../coupons/coupon-schemas.ts';
import { maxTiers } from '../limits.ts';

const tiersInput = () =>
  z
    .array(
      z.object({
        min: amountInput().meta({ examples: [1000] }),
        reduce: amountInput().meta({ examples: [50] }),
      }),
    )
    .min(1)
    .max(maxTiers)
    .meta({
      description: 'ascending; the highest tier that the order reaches counts',
      examples: [
        [
          { min: 1000, reduce: 50 },
          { min: 2000, reduce: 150 },
        ],
      ],
    });
const times = {
  start_at: timeInput('when it begins'),
  end_at: timeInput('its last second'),
};
export const reductionBody = z.object({
  name: nameInput('50 off from 1,000'),
  tiers: tiersInput(),
  status: bit().default(1),
  ...times,
});
/** A field that is absent is not changed. */
export const reductionChangeBody = z.object({
  name: nameInput('50 off from 1,000').optional(),
  tiers: tiersInput().optional(),
  status: bit().optional(),
  ...times,
});
export type ReductionChanges = z.output<typeof reductionChangeBody>;

export const reductionQuery = pageQueryWith({ keyword: keywordFilter, status: statusFilter });

export const reductionView = z
  .object({
    id: id(),
    type: z.literal('full_save'),
    name: z.string().meta({ examples: ['50 off from 1,000'] }),
    start_at: timestamp().nullable(),
    end_at: timestamp().nullable(),
    tiers: list(z.object({ min: amount(), reduce: amount() }), maxTiers),
    status: bit(),
    status_label: z.string().meta({ examples: ['Enabled'] }),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'FullReduction' });
