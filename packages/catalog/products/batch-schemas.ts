import { maxMinor, toWire } from '@tradepost/core';
import { id, idOrZero, maxBatch, zeroWhenEmpty } from '@tradepost/http';
import { z } from 'zod';

const ids = z
  .array(id())
  .max(maxBatch)
  .meta({ examples: [[1]] });
const limit = toWire(maxMinor);

export const batchStatusBody = z.object({
  ids,
  status: z
    .int()
    .min(0)
    .max(1)
    .meta({ examples: [1] }),
});
export const batchCategoryBody = z.object({ ids, category_id: zeroWhenEmpty(idOrZero()) });
export const batchPriceBody = z.object({
  ids,
  adjustment: z.object({
    type: z.enum(['set', 'percent', 'amount']).meta({ examples: ['percent'] }),
    value: z
      .number()
      .min(-limit)
      .max(limit)
      .meta({ description: 'an amount, or a percentage: -12.5 lowers the price by an eighth', examples: [-12.5] }),
    scope: z.enum(['all', 'product', 'sku']).optional().meta({
      description: 'the prices to change: of the product and all its SKUs (default), or only of one of the two',
    }),
  }),
});
