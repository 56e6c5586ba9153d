import { amount, amountInput, id, idOrZero, list, text, timestamp } from '@tradepost/http';
import { z } from 'zod';
import { maxItems } from '../limits.ts';
import { span, strictPageWith } from '../stock/list-filters.ts';
import { maxQuantity } from '../stock/stock-moves.ts';
import { docTypes, documentStates } from './document.ts';

const items = () =>
  z
    .array(
      z.object({
        sku_id: id(),
        qty: z
          .int()
          .min(1)
          .max(maxQuantity)
          .meta({ examples: [5] }),
        unit_cost: amountInput().optional(),
        remark: text(255).optional(),
      }),
    )
    .min(1)
    .max(maxItems)
    .meta({ description: 'several items may have the same SKU' });
const remark = text(500).optional();

export const documentCreateBody = z.object({
  warehouse_id: id(),
  doc_type: z.enum(docTypes),
  remark,
  items: items(),
});
/** Absent fields do not change. `items` replaces all items. */
export const documentUpdateBody = z.object({
  warehouse_id: id().optional(),
  doc_type: z.enum(docTypes).optional(),
  remark,
  items: items().optional(),
});

export const documentQuery = strictPageWith({
  warehouse_id: idOrZero().optional(),
  doc_type: z.enum(docTypes).optional(),
  status: z.enum(documentStates).optional(),
  doc_no: text(64).trim().optional().meta({ description: 'the complete number' }),
  ...span,
});

const documentFields = {
  id: id(),
  doc_no: z.string().meta({ examples: ['WI177232560000000000000010427'] }),
  warehouse_id: id(),
  warehouse_name: z.string().meta({ examples: ['Main warehouse'] }),
  doc_type: z.enum(docTypes),
  status: z.enum(documentStates),
  remark: z.string(),
  total_qty: z.int(),
  item_count: z.int(),
  biz_type: z
    .string()
    .meta({ description: 'manual, or the reason for which the shop wrote it: takeover, deduct, restore' }),
  biz_no: z.string(),
  created_by: z.int().meta({ description: 'id of the administrator; 0 is the shop itself' }),
  created_at: timestamp(),
  updated_at: timestamp(),
  completed_at: timestamp().nullable(),
  canceled_at: timestamp().nullable(),
};
export const documentRow = z.object(documentFields).meta({ id: 'WarehouseDocument' });
/** One console reads the fields at the top level, the other in `doc`. */
export const documentDetail = z
  .object({
    ...documentFields,
    doc: documentRow,
    items: list(
      z.object({
        id: id(),
        doc_id: id(),
        sku_id: id(),
        sku_name: z.string().meta({ examples: ['Enamel mug (Cream, L)'] }),
        sku_code: z.string(),
        qty: z.int(),
        unit_cost: amount(),
        remark: z.string(),
      }),
      maxItems,
    ),
  })
  .meta({ id: 'WarehouseDocumentDetail' });
