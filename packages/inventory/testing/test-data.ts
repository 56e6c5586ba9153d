import { many } from '@tradepost/testing/routes/makers';
import { type TestData, withoutConstraints } from '@tradepost/testing/test-data';

/** Stock of two warehouses, and the reservations of the orders N1 to N4 in them. N5 to N7 are reserved in an external warehouse: one is pending, one confirmed, one refused. N8 was sold from local stock, and goods left for an exchange. N11 was sold and came back. */
const rows = `
  insert into inventory.provider_state (provider, known) values ('builtin_wms', '{local,builtin_wms}');
  insert into inventory.warehouses (id, code, name, status) overriding system value values (1, 'W1', 'One', 1), (2, 'W2', 'Two', 0);
  insert into inventory.inventory_stock (warehouse_id, sku_id, qty, reserved_qty) values (1, 1, 10, 2), (1, 2, 10, 0), (2, 3, 4, 0);
  insert into inventory.stock_documents (id, doc_no, warehouse_id, doc_type, status, completed_at) overriding system value
    values (1, 'WI1', 1, 'inbound', 'completed', now()), (2, 'WI2', 2, 'inbound', 'completed', now()), (3, 'WO3', 1, 'outbound', 'draft', null);
  insert into inventory.stock_document_items (doc_id, sku_id, qty) values (1, 1, 10), (1, 1, 5), (1, 2, 11), (2, 3, 4), (3, 1, 1);
  insert into inventory.stock_movements (warehouse_id, sku_id, biz_type, change_qty, before_qty, after_qty, doc_id, doc_no)
    values (1, 1, 'inbound', 10, 0, 10, 1, 'WI1'), (1, 1, 'inbound', 5, 10, 15, 1, 'WI1'), (1, 2, 'inbound', 11, 0, 11, 1, 'WI1'),
           (2, 3, 'inbound', 4, 0, 4, 2, 'WI2'), (1, 1, 'reserve', 0, 15, 15, 0, 'N1'), (1, 1, 'order_outbound', -2, 15, 13, 0, 'N2'),
           (1, 2, 'order_outbound', -1, 11, 10, 0, 'N2'), (1, 1, 'order_outbound', -3, 13, 10, 0, 'N3');
  insert into inventory.inventory_reservation (biz_type, biz_no, sku_id, qty, status, warehouse_id)
    values ('order', 'N1', 1, 2, 'reserved', 1), ('order', 'N2', 1, 2, 'confirmed', 1), ('order', 'N2', 2, 1, 'confirmed', 1),
           ('order', 'N3', 1, 3, 'confirmed', 1), ('order', 'N4', 1, 1, 'released', 1);
  insert into inventory.order_inventory_state (order_no, provider, status)
    values ('N1', 'builtin_wms', 'reserved'), ('N2', 'builtin_wms', 'confirmed'), ('N3', 'builtin_wms', 'confirmed'), ('N4', 'builtin_wms', 'released');
  insert into inventory.inventory_reservation (biz_type, biz_no, sku_id, qty, status)
    values ('order', 'N5', 3, 1, 'reserved'), ('order', 'N6', 3, 1, 'confirmed'), ('order', 'N7', 3, 1, 'released');
  insert into inventory.order_inventory_state (order_no, provider, status)
    values ('N5', 'external_wms', 'pending'), ('N6', 'external_wms', 'confirmed'), ('N7', 'external_wms', 'failed');
  insert into inventory.inventory_reservation (biz_type, biz_no, sku_id, qty, status) values ('order', 'N8', 3, 1, 'confirmed');
  insert into inventory.order_inventory_state (order_no, provider, status) values ('N8', 'local', 'confirmed');
  insert into inventory.inventory_reservation (biz_type, biz_no, sku_id, qty, status) values ('order', 'N11', 3, 1, 'confirmed');
  insert into inventory.order_inventory_state (order_no, provider, status) values ('N11', 'local', 'confirmed');
  insert into inventory.after_sale_moves (biz_no, action, sku_id, qty, provider) values ('N11', 'restore', 3, 1, 'local');
  insert into inventory.after_sale_moves (biz_no, action, sku_id, qty, provider) values ('AS0', 'deduct', 1, 1, 'local');`;

export const testData: TestData = {
  rows,
  auditCases: [
    [
      'inventory.stock_bounds',
      'stock below zero',
      `${withoutConstraints('catalog.product_skus')} update catalog.product_skus set stock = -1 where id = 3`,
      ['inventory.shelf_sums'],
    ],
    [
      'inventory.stock_bounds',
      'reserved stock above stock',
      `${withoutConstraints('catalog.product_skus')} update catalog.product_skus set stock = 1 where id = 1`,
      ['inventory.shelf_sums'],
    ],
    [
      'inventory.reserved_stock',
      'reserved without a reservation',
      `update catalog.product_skus set reserved_stock = reserved_stock + 1 where id = 2`,
      ['inventory.shelf_sums'],
    ],
    [
      'inventory.reserved_stock',
      'a reservation without reserved stock',
      `update catalog.product_skus set reserved_stock = 1 where id = 1`,
      ['inventory.shelf_sums'],
    ],
    [
      'inventory.reserved_stock',
      'reserved in a disabled warehouse',
      `update inventory.warehouses set status = 0 where id = 1; update inventory.provider_state set provider = 'local'`,
    ],
    ['inventory.shelf_sums', 'more on the SKU', `update catalog.product_skus set stock = 11 where id = 1`],
    ['inventory.shelf_sums', 'a disabled warehouse counts', `update catalog.product_skus set stock = 4 where id = 3`],
    [
      'inventory.shelf_reserved',
      'reserved without a reservation',
      `update inventory.inventory_stock set reserved_qty = 1 where sku_id = 3`,
    ],
    [
      'inventory.shelf_reserved',
      'reserved in another warehouse',
      `update inventory.inventory_reservation set warehouse_id = 2 where biz_no = 'N1'`,
      ['inventory.reserved_stock'],
    ],
    [
      'inventory.shelf_movements',
      'stock without a movement',
      `update inventory.inventory_stock set qty = 5 where sku_id = 3`,
    ],
    [
      'inventory.shelf_movements',
      'a movement without its shelf',
      `delete from inventory.inventory_stock where sku_id = 3`,
    ],
    [
      'inventory.movement_chain',
      'a gap',
      `update inventory.stock_movements set before_qty = before_qty + 1, after_qty = after_qty + 1 where doc_no = 'N2' and sku_id = 1`,
    ],
    [
      'inventory.documents',
      'moved less than it says',
      `update inventory.stock_document_items set qty = 12 where doc_id = 1 and sku_id = 2`,
    ],
    [
      'inventory.documents',
      'a draft that has moved',
      `update inventory.stock_documents set status = 'draft', completed_at = null where id = 2`,
    ],
    [
      'inventory.case_documents',
      'goods that left no warehouse',
      `insert into inventory.after_sale_moves (biz_no, action, sku_id, qty, provider) values ('AS9', 'deduct', 1, 2, 'builtin_wms')`,
    ],
    [
      'inventory.case_documents',
      'a document of another quantity',
      `insert into inventory.after_sale_moves (biz_no, action, sku_id, qty, provider) values ('AS9', 'deduct', 2, 12, 'builtin_wms');
       update inventory.stock_documents set biz_type = 'deduct', biz_no = 'AS9' where id = 1`,
    ],
    ['inventory.sold', 'sold without a reservation', `update catalog.product_skus set sold = sold + 1 where id = 3`],
  ],
  makers: {
    warehouses: ({ staff, send, repeat, nextNumber }, count) =>
      repeat(count, async () => {
        const body = { code: `W${nextNumber()}`, name: 'Warehouse' };
        return (await send('POST', '/admin/api/wms/warehouses', staff, body)).id;
      }),
    // Drafts that can be completed.
    docs: ({ make, staff, send, repeat }, count, { large }) =>
      repeat(count, async () => {
        const [warehouse_id] = await make('warehouses', 1);
        const skuIds = await make('skus', large ? many : 1);
        const items = skuIds.map((sku_id) => ({ sku_id, qty: 1 }));
        return (await send('POST', '/admin/api/wms/docs', staff, { warehouse_id, doc_type: 'inbound', items })).id;
      }),
    stocks: async ({ sql, make, staff, send }, count) => {
      const [doc] = await make('docs', 1, { order: 'unpaid', large: count > 1 });
      await send('POST', `/admin/api/wms/docs/${doc}/complete`, staff);
      const rows = await sql<{ id: number }[]>`
        select id from inventory.inventory_stock order by id desc limit ${count}`;
      return rows.map((row) => row.id);
    },
  },
};
