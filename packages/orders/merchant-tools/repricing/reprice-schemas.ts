import { maxMinor, toWire } from '@tradepost/core';
import { amountInput, id, text } from '@tradepost/http';
import { z } from 'zod';
import { breakdown } from '../../schemas.ts';

export const repriceRemark = text(200)
  .trim()
  .default('')
  .meta({ examples: ['Price match'] });

export const repriceBody = z.object({
  items: z
    .array(
      z.object({
        item_id: id(),
        price: amountInput().meta({ description: 'new unit price of the line', examples: [9.9] }),
      }),
    )
    .min(1)
    .max(200)
    .meta({ description: 'lines that are not in the list keep their price' }),
  remark: repriceRemark,
});

export const repricedView = z.object({ id: id(), amount_breakdown: breakdown });

export const adjustmentSchema = z.object({
  type: z.enum(['percent', 'amount']),
  value: z
    .number()
    .min(-toWire(maxMinor))
    .max(toWire(maxMinor))
    .meta({ description: 'percent: payable x (1 + value/100); amount: payable + value', examples: [-10] }),
});
