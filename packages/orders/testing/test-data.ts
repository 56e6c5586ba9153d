import type { Maker } from '@tradepost/testing/routes/makers';
import { insertProduct } from '@tradepost/testing/shop';
import { type TestData, withoutConstraints } from '@tradepost/testing/test-data';

/**
 * An unpaid, a paid and a shipped order, and a cancelled order whose late payments are refunded. The stock of N5 to N7 is
 * reserved in an external warehouse. A part of the shipped order N3 was refunded. N8 was refunded in full before it was shipped,
 * and N11 because its group failed.
 */
const rows = `
  insert into orders.orders (id, order_no, user_id, status, inventory_status, goods_amount, discount_amount, freight_amount,
      total_amount, address_snapshot, tracking_no, expires_at, paid_at)
    values (1, 'N1', 1, 1, 'reserved', 2000, 0, 0, 2000, '{}', '', now() + interval '15 min', null),
           (2, 'N2', 1, 2, 'confirmed', 2500, 100, 0, 2400, '{}', '', now(), now()),
           (3, 'N3', 2, 3, 'confirmed', 3000, 0, 500, 3500, '{}', 'T3', now(), now()),
           (4, 'N4', 2, 6, 'released', 1000, 0, 0, 1000, '{}', '', now(), null);
  update orders.orders set discounts = '[{"type": "coupon", "name": "One off", "amount": 100}]' where id = 2;
  insert into orders.order_items (order_id, product_id, sku_id, title, price, qty, payable_amount)
    values (1, 1, 1, 'Mug', 1000, 2, 2000), (2, 1, 1, 'Mug', 1000, 1, 960), (2, 1, 1, 'Mug', 1000, 1, 960),
           (2, 1, 2, 'Mug', 500, 1, 480), (3, 1, 1, 'Mug', 1000, 3, 3500), (4, 1, 1, 'Mug', 1000, 1, 1000);
  update orders.order_items
    set discounts = json_build_array(json_build_object('type', 'coupon', 'name', 'One off', 'amount', price - payable_amount))
    where order_id = 2;
  insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type)
    values (1, null, 1, 'create', 'user'), (2, null, 1, 'create', 'user'), (3, null, 1, 'create', 'user'),
           (4, null, 1, 'create', 'user'), (2, 1, 2, 'pay', 'user'), (3, 1, 2, 'pay', 'user'), (4, 1, 6, 'timeout', 'system'),
           (3, 2, 3, 'ship', 'admin');
  insert into orders.payments (id, order_id, provider, method, amount, status, payment_no, trade_no, paid_at) overriding system value
    values (1, 2, 'instant', 'wechat', 2400, 'succeeded', null, null, now()),
           (2, 3, 'sandbox', 'wechat', 3500, 'succeeded', 'P2', 'T2', now()),
           (3, 4, 'sandbox', 'wechat', 1000, 'refunding', 'P3', 'T3', now()),
           (4, 4, 'sandbox', 'wechat', 1000, 'refunded', 'P4', 'T4', now()),
           (5, 1, 'sandbox', 'wechat', 2000, 'pending', 'P5', null, null);
  select setval('orders.payments_id_seq', 100);
  insert into orders.refunds (refund_no, payment_id, order_id, provider, reason, amount, currency, status, finished_at)
    values ('R3', 3, 4, 'sandbox', 'order_cancelled', 1000, 'CNY', 'pending', null),
           ('R4', 4, 4, 'sandbox', 'paid_twice', 1000, 'CNY', 'succeeded', now());
  select graphile_worker.add_job('payments.refund', '{"refund_no": "R3"}', job_key => 'payments.refund:R3');
  insert into orders.orders (id, order_no, user_id, status, inventory_status, goods_amount, discount_amount, freight_amount,
      total_amount, address_snapshot, tracking_no, expires_at, paid_at)
    values (5, 'N5', 1, 1, 'pending', 500, 0, 0, 500, '{}', '', now() + interval '15 min', null),
           (6, 'N6', 1, 2, 'confirmed', 500, 0, 0, 500, '{}', '', now(), now()),
           (7, 'N7', 1, 1, 'failed', 500, 0, 0, 500, '{}', '', now() + interval '15 min', null);
  insert into orders.order_items (order_id, product_id, sku_id, title, price, qty, payable_amount)
    select n, 2, 3, 'Jug', 500, 1, 500 from generate_series(5, 7) as n;
  insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type)
    values (5, null, 1, 'create', 'user'), (6, null, 1, 'create', 'user'), (7, null, 1, 'create', 'user'), (6, 1, 2, 'pay', 'user');
  insert into orders.payments (order_id, provider, method, amount, status, paid_at) values (6, 'instant', 'wechat', 500, 'succeeded', now());
  insert into orders.orders (id, order_no, user_id, status, inventory_status, goods_amount, total_amount, address_snapshot,
      expires_at, paid_at) values (8, 'N8', 2, 6, 'confirmed', 500, 500, '{}', now(), now());
  insert into orders.order_items (order_id, product_id, sku_id, title, price, qty, payable_amount)
    values (8, 2, 3, 'Jug', 500, 1, 500);
  insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type)
    values (8, null, 1, 'create', 'user'), (8, 1, 2, 'pay', 'user'), (8, 2, 5, 'after_sale_open', 'user'),
           (8, 5, 6, 'after_sale_refunded', 'admin');
  insert into orders.payments (id, order_id, provider, method, amount, status, paid_at) overriding system value
    values (6, 8, 'instant', 'wechat', 500, 'refunded', now());
  insert into orders.refunds (refund_no, payment_id, order_id, provider, kind, reason, amount, currency, status, finished_at)
    values ('R5', 2, 3, 'sandbox', 'after_sale', 'after_sale:1', 500, 'CNY', 'succeeded', now()),
           ('R6', 6, 8, 'instant', 'after_sale', 'after_sale:2', 500, 'CNY', 'succeeded', now());
  insert into orders.orders (id, order_no, user_id, status, inventory_status, goods_amount, total_amount, address_snapshot,
      expires_at, paid_at) values (11, 'N11', 2, 6, 'confirmed', 500, 500, '{}', now(), now());
  insert into orders.order_items (order_id, product_id, sku_id, title, price, qty, payable_amount)
    values (11, 2, 3, 'Jug', 500, 1, 500);
  insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type)
    values (11, null, 1, 'create', 'user'), (11, 1, 2, 'pay', 'user'), (11, 2, 6, 'group_failed', 'system');
  insert into orders.payments (id, order_id, provider, method, amount, status, paid_at) overriding system value
    values (7, 11, 'instant', 'wechat', 500, 'refunded', now());
  insert into orders.refunds (refund_no, payment_id, order_id, provider, kind, reason, amount, currency, status, finished_at)
    values ('GFN11', 7, 11, 'instant', 'after_sale', 'group_failed:11', 500, 'CNY', 'succeeded', now());
  -- imported: a completed order and one that was refunded in the older shop
  insert into orders.orders (id, order_no, user_id, status, inventory_status, goods_amount, total_amount, address_snapshot,
      tracking_no, expires_at, paid_at) values (9, 'OLD-9', 0, 4, 'none', 500, 500, '{}', 'T9', now(), now()),
        (10, 'OLD-10', 2, 6, 'none', 500, 500, '{}', '', now(), now());
  insert into orders.imported_orders (order_id, nickname, shopper_account, shopper_phone, search)
    values (9, 'Old', '', '', 'old-9'), (10, 'Old', '', '', 'old-10');
  insert into orders.order_items (order_id, product_id, sku_id, sku_code, title, price, qty, payable_amount)
    values (9, 0, 0, 'OLD-JUG', 'Old jug', 500, 1, 500), (10, 2, 3, 'JUG', 'Jug', 500, 1, 500);
  insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type)
    values (9, null, 1, 'create', 'system'), (9, 1, 2, 'pay', 'system'), (9, 2, 4, 'import', 'system'),
           (10, null, 1, 'create', 'system'), (10, 1, 2, 'pay', 'system'), (10, 2, 6, 'import', 'system');`;

/** Creates orders and changes them to the requested state. */
const makeOrders: Maker = async ({ shop, owner, staff, send, repeat }, count, { order, large }) => {
  const { sku_ids } = await insertProduct(shop.database, { stocks: Array(large ? 20 : 1).fill(1_000_000) });
  const items = sku_ids.map((sku_id) => ({ sku_id, qty: 1 }));
  return repeat(count, async () => {
    const { id } = await send('POST', '/api/v1/orders', owner.token, { address_id: owner.address_id, items });
    if (order !== 'unpaid') await send('POST', `/api/v1/orders/${id}/pay`, owner.token);
    if (order === 'shipped')
      await send('PUT', `/admin/api/orders/${id}/ship`, staff, { company: 'SF', tracking_no: `SF${id}` });
    return id;
  });
};

/** The trigger would explain the change, as it does for processes of release 0.1.0. */
const withoutExplaining = 'alter table orders.order_items disable trigger explain_discount;';

export const testData: TestData = {
  rows,
  auditCases: [
    [
      'orders.imported',
      'an order of this shop is marked as imported',
      `insert into orders.imported_orders (order_id, nickname, shopper_account, shopper_phone, search) values (8, '', '', '', '')`,
      ['orders.lines_reserved', 'orders.payments'],
    ],
    [
      'orders.imported',
      'an imported order without its mark',
      `delete from orders.imported_orders where order_id = 10`,
      ['orders.lines_reserved', 'orders.stock_state', 'orders.payments'],
    ],
    [
      'orders.imported',
      'an imported order with stock',
      `update orders.orders set inventory_status = 'confirmed' where id = 9`,
    ],
    [
      'orders.imported',
      'an imported order with a payment',
      `insert into orders.payments (order_id, provider, method, amount, status, paid_at) values (10, 'instant', 'wechat', 500, 'succeeded', now())`,
      ['orders.payments'],
    ],
    [
      'orders.amounts',
      'shares of the lines',
      `${withoutExplaining} update orders.order_items set payable_amount = 479 where sku_id = 2`,
      ['orders.discounts'],
    ],
    [
      'orders.discounts',
      'a part of the discount of an order is missing',
      `update orders.orders set discounts = null where id = 2`,
    ],
    [
      'orders.discounts',
      'the share of a line is another one',
      `update orders.order_items set discounts = '[{"type": "coupon", "name": "One off", "amount": 21}]' where sku_id = 2`,
    ],
    [
      'orders.amounts',
      'goods of the lines',
      `update orders.order_items set qty = 1, price = 2001 where order_id = 1`,
      ['orders.lines_reserved'],
    ],
    [
      'orders.amounts',
      'total of the order',
      `${withoutConstraints('orders.orders')} update orders.orders set freight_amount = 1 where id = 1`,
    ],
    [
      'orders.amounts',
      'a line above the price of its goods',
      `${withoutExplaining} update orders.order_items set payable_amount = case when sku_id = 2 then 510 else 945 end where order_id = 2`,
      ['orders.discounts'],
    ],
    [
      'orders.cancelled_restocked',
      'goods of a failed group did not come back',
      `delete from inventory.after_sale_moves where biz_no = 'N11'`,
    ],
    [
      'orders.cancelled_restocked',
      'goods of another order came back',
      `insert into inventory.after_sale_moves (biz_no, action, sku_id, qty, provider) values ('N8', 'restore', 3, 1, 'local')`,
    ],
    [
      'orders.cancelled_refunded',
      'a part of the money of a failed group was not refunded',
      `update orders.refunds set amount = 499 where refund_no = 'GFN11'`,
      ['orders.refunds'],
    ],
    [
      'orders.without_lines',
      'lines were deleted',
      `delete from orders.order_items where order_id = 4`,
      ['orders.lines_reserved'],
    ],
    [
      'orders.line_orphans',
      'the order was deleted',
      `update orders.order_items set order_id = 99 where order_id = 4`,
      ['orders.without_lines', 'orders.lines_reserved'],
    ],
    [
      'orders.lines_reserved',
      'more reserved than ordered',
      `update inventory.inventory_reservation set qty = 2 where biz_no = 'N4'`,
    ],
    ['orders.lines_reserved', 'nothing reserved', `delete from inventory.inventory_reservation where biz_no = 'N4'`],
    [
      'orders.lines_reserved',
      'reserved for no order',
      `insert into inventory.inventory_reservation (biz_type, biz_no, sku_id, qty, status) values ('order', 'N9', 1, 1, 'released')`,
    ],
    ['orders.history_end', 'the last transition is missing', `delete from orders.order_history where to_status = 3`],
    ['orders.history_end', 'no history', `delete from orders.order_history where order_id = 4`],
    [
      'orders.history_chain',
      'a transition is missing',
      `delete from orders.order_history where order_id = 3 and to_status = 2`,
    ],
    [
      'orders.history_chain',
      'two creations',
      `insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type) values (1, null, 1, 'create', 'user')`,
    ],
    [
      'orders.history_moves',
      'a transition that is not allowed',
      `update orders.order_history set trigger = 'pay' where order_id = 4 and to_status = 6`,
    ],
    [
      'orders.history_moves',
      'the creation is missing',
      `update orders.order_history set to_status = 6 where order_id = 4 and from_status is null;
       delete from orders.order_history where order_id = 4 and from_status = 1`,
    ],
    [
      'orders.history_orphans',
      'the order was deleted',
      `insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type) values (99, null, 1, 'create', 'user')`,
    ],
    ['orders.paid_at', 'paid without a time', `update orders.orders set paid_at = null where id = 2`],
    ['orders.paid_at', 'refunded without a time', `update orders.orders set paid_at = null where id = 8`],
    ['orders.paid_at', 'unpaid with a time', `update orders.orders set paid_at = now() where id = 4`],
    [
      'orders.stock_state',
      'order and inventory disagree',
      `update inventory.order_inventory_state set status = 'reserved' where order_no = 'N2'`,
    ],
    ['orders.stock_state', 'no state', `delete from inventory.order_inventory_state where order_no = 'N4'`],
    [
      'orders.stock_state',
      'released stock of a paid order',
      `update inventory.order_inventory_state set status = 'released' where order_no = 'N2';
       update orders.orders set inventory_status = 'released' where id = 2`,
    ],
    [
      'orders.reservations',
      'confirmed for a cancelled order',
      `update inventory.inventory_reservation set status = 'confirmed' where biz_no = 'N4';
       update catalog.product_skus set sold = sold + 1 where id = 1`,
    ],
    [
      'orders.reservations',
      'one line of a paid order was released',
      `update inventory.inventory_reservation set status = 'released' where biz_no = 'N2' and sku_id = 2;
       update catalog.product_skus set sold = 0 where id = 2`,
    ],
    ['orders.payments', 'paid without a payment', `delete from orders.payments where id = 1`],
    [
      'orders.payments',
      'refunded in full by an after-sale, but not paid',
      `update orders.refunds set kind = 'surplus' where payment_id = 6`,
    ],
    ['orders.payments', 'another amount', `update orders.payments set amount = 2399 where id = 1`],
    [
      'orders.payments',
      'paid twice',
      `drop index orders.payments_of_order;
       insert into orders.payments (order_id, provider, method, amount, status, paid_at) values (2, 'instant', 'wechat', 2400, 'succeeded', now())`,
    ],
    [
      'orders.payments',
      'money of an unpaid order is not refunded',
      `update orders.payments set status = 'succeeded', paid_at = now(), trade_no = 'T5' where id = 5`,
    ],
    [
      'orders.payments',
      'money of a cancelled order is not refunded',
      `delete from orders.refunds where payment_id = 4; update orders.payments set status = 'succeeded' where id = 4`,
    ],
    ['orders.refunds', 'a refunding payment without a refund', `delete from orders.refunds where payment_id = 3`],
    ['orders.refunds', 'a refund of a part', `update orders.refunds set amount = 1 where payment_id = 3`],
    [
      'orders.refunds',
      'refunded before the refund has succeeded',
      `update orders.payments set status = 'refunded' where id = 3`,
    ],
    [
      'orders.refunds',
      'refunding after the refund has succeeded',
      `update orders.payments set status = 'refunding' where id = 4`,
    ],
    [
      'orders.refunds',
      'the payment of a paid order was refunded',
      `insert into orders.refunds (refund_no, payment_id, order_id, provider, reason, amount, currency) values ('R2', 2, 3, 'sandbox', 'already_paid', 3000, 'CNY')`,
    ],
    [
      'orders.refunds',
      'refunded before its refunds have returned all',
      `update orders.payments set status = 'refunded' where id = 2`,
    ],
    [
      'orders.refunds',
      'paid after its refunds have returned all',
      `update orders.payments set status = 'succeeded' where id = 6`,
    ],
    [
      'orders.refunds',
      'more than was paid',
      `update orders.refunds set amount = 3501, status = 'pending', finished_at = null, updated_at = now() where refund_no = 'R5'`,
      ['orders.refund_amounts', 'fulfilment.case_refunds'],
    ],
    [
      'orders.refund_amounts',
      'a refund of an order that received no money',
      `update orders.refunds set order_id = 1 where refund_no = 'R3'`,
    ],
    [
      'orders.refunds_forgotten',
      'a refund without a job',
      `select graphile_worker.remove_job('payments.refund:R3');
       update orders.refunds set updated_at = now() - interval '1 hour' where refund_no = 'R3'`,
    ],
    [
      'orders.refunds_failed',
      'a failed refund',
      `update orders.refunds set status = 'failed', finished_at = now() where refund_no = 'R3'`,
    ],
    [
      'orders.payment_orphans',
      'the order was deleted',
      `insert into orders.payments (order_id, provider, method, amount, status) values (99, 'instant', 'wechat', 1, 'closed')`,
    ],
    ['orders.expired', 'still unpaid', `update orders.orders set expires_at = now() - interval '1 hour' where id = 1`],
    ['orders.counts', 'a change is missing', `delete from orders.order_changes where status = 6`],
    [
      'orders.counts',
      'counted twice',
      `insert into orders.order_blocks (block, status, payment_method, orders, first_at, last_at) values (7, 1, '', 1, now(), now())`,
    ],
  ],
  makers: {
    orders: makeOrders,
    // A SKU in the cart is an existing line of the cart.
    cart: async ({ shop, owner, send }, count) => {
      const { sku_ids } = await insertProduct(shop.database, { stocks: Array(count).fill(1_000) });
      for (const sku_id of sku_ids) await send('POST', '/api/v1/cart/add', owner.token, { sku_id, qty: 1 });
      return sku_ids;
    },
    pay: ({ make, owner, send, repeat }, count, options) =>
      repeat(count, async () => {
        const [order_id] = await make('orders', 1, { ...options, order: 'unpaid' });
        return (await send('POST', '/api/pay/create', owner.token, { order_id, provider: 'sandbox' })).payment_no;
      }),
    // Lines of the newest order of the owner, which the path of the request names.
    items: async ({ sql, owner }, count) => {
      const rows = await sql<{ id: number }[]>`
        select id from orders.order_items
        where order_id = (select max(id) from orders.orders where user_id = ${owner.id}) order by id limit ${count}`;
      return rows.map((row) => row.id);
    },
  },
};
