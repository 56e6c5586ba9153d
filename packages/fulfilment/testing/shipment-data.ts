import type { TestData } from '@tradepost/testing/test-data';

/** The first shipment and a re-shipment of the shipped order, and the returns of the cases 1 and 2. */
const rows = `
  insert into fulfilment.shipments (order_id, delivery_type, direction, biz_type, tracking_no)
    values (3, 'express', 'outbound', 'initial', 'T3'), (3, 'express', 'outbound', 'reship', 'T9');
  insert into fulfilment.shipments (order_id, after_sale_case_id, delivery_type, direction, biz_type, created_by_type)
    values (3, 1, 'express', 'inbound', 'return', 'user'), (8, 2, 'express', 'inbound', 'return', 'user');
  update orders.orders set tracking_no = 'T9' where id = 3;`;

export const shipmentData: TestData = {
  rows,
  auditCases: [
    ['fulfilment.first_shipment', 'none', `delete from fulfilment.shipments where biz_type = 'initial'`],
    [
      'fulfilment.first_shipment',
      'two',
      `drop index fulfilment.shipments_one_initial; update fulfilment.shipments set biz_type = 'initial' where biz_type = 'reship'`,
    ],
    [
      'fulfilment.tracking_number',
      'the number of the first shipment',
      `update orders.orders set tracking_no = 'T3' where id = 3`,
    ],
    [
      'fulfilment.tracking_number',
      'of an order without shipments',
      `update orders.orders set tracking_no = 'T1' where id = 1`,
    ],
    [
      'fulfilment.first_shipment',
      'of an unpaid order',
      `insert into fulfilment.shipments (order_id, delivery_type, direction, biz_type) values (1, 'express', 'outbound', 'initial')`,
    ],
    [
      'fulfilment.shipment_orphans',
      'the order was deleted',
      `update fulfilment.shipments set order_id = 99 where biz_type = 'reship'`,
      ['fulfilment.tracking_number'],
    ],
    [
      'fulfilment.case_shipments',
      'goods that were sent back without a shipment',
      `delete from fulfilment.shipments where after_sale_case_id = 1`,
    ],
    [
      'fulfilment.case_shipments',
      'a replacement of a return',
      `update fulfilment.shipments set after_sale_case_id = 2, order_id = 8 where biz_type = 'reship'`,
      ['fulfilment.tracking_number'],
    ],
    [
      'fulfilment.case_shipments',
      'a return of another order',
      `update fulfilment.shipments set order_id = 3 where after_sale_case_id = 2`,
    ],
  ],
};
