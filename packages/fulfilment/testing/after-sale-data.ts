import type { Maker } from '@tradepost/testing/routes/makers';
import { type TestData, withoutConstraints } from '@tradepost/testing/test-data';

/**
 * The returns that were refunded: one piece of the shipped order N3, and all of N8, which was not shipped. N20 is in after-sale
 * with an open exchange.
 */
const rows = `
  insert into orders.orders (id, order_no, user_id, status, inventory_status, goods_amount, total_amount, address_snapshot,
      expires_at, paid_at) values (20, 'N20', 1, 5, 'confirmed', 1000, 1000, '{}', now(), now());
  insert into orders.order_items (id, order_id, product_id, sku_id, title, price, qty, payable_amount) overriding system value
    values (120, 20, 2, 3, 'Jug', 500, 2, 1000);
  insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type)
    values (20, null, 1, 'create', 'user'), (20, 1, 2, 'pay', 'user'), (20, 2, 5, 'after_sale_open', 'user');
  insert into orders.payments (id, order_id, provider, method, amount, status, paid_at) overriding system value
    values (120, 20, 'instant', 'wechat', 1000, 'succeeded', now());
  insert into inventory.inventory_reservation (biz_type, biz_no, sku_id, qty, status) values ('order', 'N20', 3, 2, 'confirmed');
  insert into inventory.order_inventory_state (order_no, provider, status) values ('N20', 'local', 'confirmed');
  update catalog.product_skus set sold = sold + 2 where id = 3;
  insert into inventory.after_sale_moves (biz_no, action, sku_id, qty, provider) values ('AS1', 'restore', 1, 1, 'local');
  insert into fulfilment.after_sale_cases (id, case_no, order_id, user_id, order_status_snapshot, case_type, status, reason,
      audit_status, refund_amount, refund_no, completed_at)
    values (1, 'AS1', 3, 2, 3, 'return', 'completed', 'Broken', 'approved', 500, 'R5', now()),
           (2, 'AS2', 8, 2, 2, 'return', 'completed', 'Broken', 'approved', 500, 'R6', now()),
           (3, 'AS3', 20, 1, 2, 'exchange', 'applied', 'Broken', 'pending', 0, '', null);
  insert into fulfilment.after_sale_items (case_id, order_item_id, qty, is_open)
    select c, i.id, 1, c = 3 from (values (1, 3), (2, 8), (3, 20)) as n (c, o) join orders.order_items i on i.order_id = o;
  insert into fulfilment.after_sale_logs (case_id, from_status, to_status, action, operator_type)
    select c, f, t, a, 'admin' from generate_series(1, 3) as c,
      (values (1, '', 'applied', 'apply'), (2, 'applied', 'approved_wait_user_return', 'audit'),
              (3, 'approved_wait_user_return', 'user_returning', 'return_ship'),
              (4, 'user_returning', 'refund_pending', 'receive'), (5, 'refund_pending', 'refunded', 'refund'),
              (6, 'refunded', 'completed', 'complete')) as l (n, f, t, a)
    where c < 3 or n = 1 order by c, n;`;

/** Applies for an after-sale of a paid order. A case in another state is made by the test that needs it. */
const makeCases: Maker = async ({ sql, owner, send, repeat, make }, count, options) =>
  repeat(count, async () => {
    const [order] = await make('orders', 1, { ...options, order: 'paid' });
    const [line] = await sql<{ id: number }[]>`
      select id from orders.order_items where order_id = ${Number(order)} order by id limit 1`;
    const body = { reason: 'Broken', items: [{ order_item_id: line!.id, qty: 1 }] };
    return (await send('POST', `/api/v1/orders/${order}/after-sales`, owner.token, body)).id;
  });

export const afterSaleData: TestData = {
  rows,
  auditCases: [
    [
      'fulfilment.after_sale_orders',
      'an open case of an order that is not in after-sale',
      `update orders.orders set status = 2 where id = 20;
       insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type) values (20, 5, 2, 'after_sale_end', 'admin')`,
    ],
    [
      'fulfilment.after_sale_orders',
      'an order in after-sale without an open case',
      `update orders.orders set status = 5 where id = 6;
       insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type) values (6, 2, 5, 'after_sale_open', 'user')`,
    ],
    ['fulfilment.case_orphans', 'another buyer', `update fulfilment.after_sale_cases set user_id = 1 where id = 2`],
    [
      'fulfilment.case_orphans',
      'a line of another order',
      `update fulfilment.after_sale_items set order_item_id = (select id from orders.order_items where order_id = 3) where case_id = 3`,
    ],
    ['fulfilment.case_orphans', 'no lines', `delete from fulfilment.after_sale_items where case_id = 3`],
    [
      'fulfilment.case_quantities',
      'more than was bought',
      `update fulfilment.after_sale_items set qty = 3 where case_id = 3`,
    ],
    [
      'fulfilment.case_lines',
      'the case is over',
      `update fulfilment.after_sale_items set is_open = true where case_id = 2`,
    ],
    ['fulfilment.case_refunds', 'another amount', `update orders.refunds set amount = 499 where refund_no = 'R5'`],
    [
      'fulfilment.case_refunds',
      'of a case that was not refunded',
      `insert into orders.refunds (refund_no, payment_id, order_id, provider, kind, reason, amount, currency, status, finished_at)
       values ('R9', 120, 20, 'instant', 'after_sale', 'after_sale:3', 500, 'CNY', 'succeeded', now())`,
    ],
    [
      'fulfilment.case_restocked',
      'more than was received',
      `update inventory.after_sale_moves set qty = 2 where biz_no = 'AS1'`,
    ],
    [
      'fulfilment.case_restocked',
      'before it was received',
      `insert into inventory.after_sale_moves (biz_no, action, sku_id, qty, provider) values ('AS3', 'restore', 3, 1, 'local')`,
    ],
    [
      'fulfilment.order_restocked',
      'the same pieces came in again after their case was closed',
      `insert into fulfilment.after_sale_cases (id, case_no, order_id, user_id, order_status_snapshot, case_type, status, reason,
         audit_status) values (4, 'AS4', 3, 2, 3, 'return', 'closed', 'Broken', 'approved');
       insert into fulfilment.after_sale_items (case_id, order_item_id, qty, is_open)
         select 4, id, 3, false from orders.order_items where order_id = 3;
       insert into fulfilment.after_sale_logs (case_id, from_status, to_status, action, operator_type)
         values (4, '', 'applied', 'apply', 'user'), (4, 'applied', 'approved_wait_user_return', 'audit', 'admin'),
                (4, 'approved_wait_user_return', 'user_returning', 'return_ship', 'user'),
                (4, 'user_returning', 'refund_pending', 'receive', 'admin'), (4, 'refund_pending', 'closed', 'close', 'admin');
       insert into fulfilment.shipments (order_id, after_sale_case_id, delivery_type, direction, biz_type)
         values (3, 4, 'express', 'inbound', 'return');
       insert into inventory.after_sale_moves (biz_no, action, sku_id, qty, provider) values ('AS4', 'restore', 1, 3, 'local')`,
    ],
    ['fulfilment.case_log_end', 'no log', `delete from fulfilment.after_sale_logs where case_id = 3`],
    [
      'fulfilment.case_log_end',
      'the last entry is missing',
      `delete from fulfilment.after_sale_logs where case_id = 2 and action = 'complete'`,
    ],
    [
      'fulfilment.case_log_chain',
      'an entry is missing',
      `delete from fulfilment.after_sale_logs where case_id = 2 and action = 'audit'`,
    ],
    [
      'fulfilment.case_log_moves',
      'a transition that is not allowed',
      `${withoutConstraints('fulfilment.after_sale_logs')}
       update fulfilment.after_sale_logs set action = 'close' where case_id = 2 and action = 'complete'`,
    ],
  ],
  makers: { 'after-sales': makeCases },
};
