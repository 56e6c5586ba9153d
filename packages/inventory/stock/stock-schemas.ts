import { bit, id, idOrZero, text, timestamp } from '@tradepost/http';
import { z } from 'zod';
import { maxRequestedSkus } from '../limits.ts';
import { strictPageWith } from './list-filters.ts';
import { maxQuantity } from './stock-moves.ts';

export const stockQuery = strictPageWith({
  keyword: text(100).trim().optional().meta({ description: 'words of the name of a SKU, its code, or its id' }),
  warehouse_id: idOrZero().optional(),
  sku_id: idOrZero().optional(),
  warning_only: z.boolean().optional().meta({ description: 'only stock below its safety stock' }),
});
export const safeQtyBody = z.object({
  safe_qty: z
    .int()
    .min(0)
    .max(maxQuantity)
    .meta({ examples: [10] }),
});
export const stocksBySkusQuery = z.object({
  sku_ids: z
    .string()
    .max(20_000)
    .regex(/^\s*[1-9]\d{0,14}\s*(,\s*[1-9]\d{0,14}\s*)*$/, { error: 'must be SKU ids with commas between them' })
    .refine((ids) => ids.split(',').length <= maxRequestedSkus, { error: `must be at most ${maxRequestedSkus} ids` })
    .meta({ examples: ['1,2'] })
    .optional(),
});

export const stockView = z
  .object({
    id: id(),
    warehouse_id: id(),
    warehouse_name: z.string().meta({ examples: ['Main warehouse'] }),
    warehouse_status: bit(),
    sku_id: id(),
    sku_name: z.string().meta({ examples: ['Enamel mug (Cream, L)'] }),
    sku_code: z.string(),
    qty: z.int().meta({ description: 'on hand' }),
    reserved_qty: z.int().meta({ description: 'the part of qty that open orders have reserved' }),
    safe_qty: z.int(),
    is_warning: z.boolean().meta({ description: 'qty is below safe_qty' }),
    warning_gap: z.int().meta({ description: 'safe_qty minus qty, at least 0' }),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'WarehouseStock' });
