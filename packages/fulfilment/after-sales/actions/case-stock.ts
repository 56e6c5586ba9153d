import type { LockedCase } from './move-cases.ts';

/** The goods of a case as the inventory takes them. The number of the case is their business number. */
export function stockOf(found: LockedCase) {
  const lines = new Map(found.order.items.map((line) => [line.id, line]));
  return {
    biz_no: found.case_no,
    lines: found.items.map(({ order_item_id, qty }) => {
      const { sku_id, warehouse_id } = lines.get(order_item_id)!;
      return { sku_id, qty, warehouse_id };
    }),
  };
}
