import { addressesIn, type FileReferences } from '@tradepost/storage';

/** Pictures of order lines: an order shows its goods as the buyer saw them, also when the product has another picture. */
export const orderFiles: FileReferences = {
  name: 'orders',
  // Many lines have the same picture.
  referenced: (sql, addresses) => addressesIn(sql, addresses, sql`select distinct cover from orders.order_items`),
};
