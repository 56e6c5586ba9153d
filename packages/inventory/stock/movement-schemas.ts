import { id, idOrZero, text, timestamp } from '@tradepost/http';
import { z } from 'zod';
import { span, strictPageWith } from './list-filters.ts';

const movementTypes = ['inbound', 'outbound', 'order_outbound', 'reserve', 'release'] as const;

export const movementQuery = strictPageWith({
  warehouse_id: idOrZero().optional(),
  sku_id: idOrZero().optional(),
  biz_type: z.enum(movementTypes).optional(),
  doc_no: text(64).trim().optional().meta({ description: 'the complete number of a document or an order' }),
  ...span,
});

export const movementView = z
  .object({
    id: id(),
    warehouse_id: id(),
    warehouse_name: z.string().meta({ examples: ['Main warehouse'] }),
    sku_id: id(),
    sku_name: z.string().meta({ examples: ['Enamel mug (Cream, L)'] }),
    sku_code: z.string(),
    biz_type: z.enum(movementTypes),
    change_qty: z
      .int()
      .meta({ description: 'change of the quantity on hand; 0 when only the reserved quantity changed' }),
    before_qty: z.int(),
    after_qty: z.int(),
    doc_id: z.int().meta({ description: '0 when an order moved the stock' }),
    doc_no: z.string().meta({ description: 'number of the document or the order' }),
    occurred_at: timestamp(),
  })
  .meta({ id: 'StockMovement' });
export type MovementType = (typeof movementTypes)[number];
