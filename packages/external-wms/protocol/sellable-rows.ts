import { z } from 'zod';

const row = z.object({
  sku_id: z.int(),
  sellable_stock: z.int(),
  reserved: z.int().nullable().catch(null),
  on_hand: z.int().nullable().catch(null),
});

/** The stock of one SKU at the external warehouse. */
export type SellableRow = z.output<typeof row>;

/**
 * The rows of an answer to `/stock/sellable`. Rows without an integer SKU id and quantity are left out; no other text of the
 * warehouse is kept. Null when `data` is not a list.
 */
export function sellableRowsOf(data: unknown): SellableRow[] | null {
  if (!Array.isArray(data)) return null;
  return data.flatMap((value: unknown) => row.safeParse(value).data ?? []);
}
