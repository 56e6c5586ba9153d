import { defineRoute, type Route } from '@tradepost/http';
import { z } from 'zod';

const skuIds = z
  .string()
  .max(20_000)
  .regex(/^\s*[1-9]\d{0,14}\s*(,\s*[1-9]\d{0,14}\s*)*$/, { error: 'must be SKU ids with commas between them' })
  .meta({ examples: ['1,2'] });

/**
 * Stock per warehouse for the product form. While the SKU itself keeps the stock no warehouse is in use, and the form
 * expects an empty list. Belongs to the warehouse administration and moves there with it.
 */
export function stockRoutes(): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/admin/api/wms/stocks/by-skus',
      auth: 'staff',
      permission: 'wms:view',
      tag: 'Warehouses (admin)',
      summary: 'Stock of SKUs by warehouse; empty when no warehouse is in use',
      query: z.object({ sku_ids: skuIds.optional() }),
      response: z.array(
        z.object({
          sku_id: z.int(),
          warehouse_id: z.int(),
          qty: z.int(),
          reserved_qty: z.int(),
          safe_qty: z.int(),
        }),
      ),
      statements: 0,
      handle: () => [],
    }),
  ];
}
