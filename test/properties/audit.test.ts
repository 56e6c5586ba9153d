import { audits } from '@tradepost/app';
import { auditPassed, runAudits } from '@tradepost/runtime';
import { runHere } from '@tradepost/testing/processes/command';
import { runCommand } from '@tradepost/testing/processes/process';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** A small shop in order: an unpaid order, a paid, a shipped and a cancelled one, whose late money is on its way back. */
const shopInOrder = `
  insert into identity.shoppers (id, nickname) overriding system value values (1, 'Ann'), (2, 'Bob');
  insert into identity.addresses (user_id, name, phone, is_default)
    values (1, 'Ann', '13800000000', true), (1, 'Ann', '13800000001', false), (2, 'Bob', '13800000002', true);
  insert into catalog.categories (id, parent_id, name) overriding system value values (1, 0, 'Home'), (2, 1, 'Mugs'), (3, 2, 'Enamel');
  insert into catalog.products (id, category_id, title, price, favorite_count) overriding system value values (1, 2, 'Mug', 1000, 2), (2, 1, 'Jug', 500, 0);
  insert into catalog.favorites (user_id, product_id) values (1, 1), (2, 1);
  insert into catalog.product_skus (id, product_id, sku_key, price, stock, reserved_stock, sold) overriding system value
    values (1, 1, 'a', 1000, 10, 2, 5), (2, 1, 'b', 500, 10, 0, 1), (3, 2, 'c', 500, 0, 0, 0);
  insert into orders.orders (id, order_no, user_id, status, inventory_status, goods_amount, discount_amount, freight_amount,
      total_amount, address_snapshot, tracking_no, expires_at, paid_at)
    values (1, 'N1', 1, 1, 'reserved', 2000, 0, 0, 2000, '{}', '', now() + interval '15 min', null),
           (2, 'N2', 1, 2, 'confirmed', 2500, 100, 0, 2400, '{}', '', now(), now()),
           (3, 'N3', 2, 3, 'confirmed', 3000, 0, 500, 3500, '{}', 'T3', now(), now()),
           (4, 'N4', 2, 6, 'released', 1000, 0, 0, 1000, '{}', '', now(), null);
  insert into orders.order_items (order_id, product_id, sku_id, title, price, qty, payable_amount)
    values (1, 1, 1, 'Mug', 1000, 2, 2000), (2, 1, 1, 'Mug', 1000, 1, 960), (2, 1, 1, 'Mug', 1000, 1, 960),
           (2, 1, 2, 'Mug', 500, 1, 480), (3, 1, 1, 'Mug', 1000, 3, 3500), (4, 1, 1, 'Mug', 1000, 1, 1000);
  insert into inventory.inventory_reservation (biz_type, biz_no, sku_id, qty, status)
    values ('order', 'N1', 1, 2, 'reserved'), ('order', 'N2', 1, 2, 'confirmed'), ('order', 'N2', 2, 1, 'confirmed'),
           ('order', 'N3', 1, 3, 'confirmed'), ('order', 'N4', 1, 1, 'released');
  insert into inventory.order_inventory_state (order_no, provider, status)
    values ('N1', 'local', 'reserved'), ('N2', 'local', 'confirmed'), ('N3', 'local', 'confirmed'), ('N4', 'local', 'released');
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
  insert into fulfilment.shipments (order_id, delivery_type, direction, biz_type, tracking_no)
    values (3, 'express', 'outbound', 'initial', 'T3'), (3, 'express', 'outbound', 'reship', 'T9');
  insert into gateway.api_tokens (id, user_id, prefix, token_hash, rpm_limit, revoked_at) overriding system value
    values (1, 1, 'tp-aaaaaaaa', 'a', 600, null), (2, 2, 'tp-bbbbbbbb', 'b', null, now());
  insert into gateway.user_limits (user_id, rpm_limit) values (1, 600);
  insert into gateway.token_changes (token_id, user_id, action, details, changed_by)
    values (1, 1, 'create', '{"rpm_limit": null, "tpm_limit": null}', 'cli'), (2, 2, 'create', '{"rpm_limit": null}', 'cli'),
           (1, 1, 'update', '{"before": {"rpm_limit": null}, "after": {"rpm_limit": 600}}', 'admin:1'), (2, 2, 'revoke', '{}', 'cli');
  insert into gateway.usage (id, user_id, token_id, endpoint, model, state, estimated_input_tokens, max_output_tokens, started_at, ended_at)
    values ('00000000-0000-4000-8000-000000000001', 1, 1, 'chat', 'm', 'done', 1, 1, now() - interval '1 s', now()),
           ('00000000-0000-4000-8000-000000000002', 1, 1, 'chat', 'm', 'open', 1, 1, now(), null);`;

/** The same shop with its stock on shelves: a document that filled them, one that waits, and the movements of its orders. */
const inWarehouses = `
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
  update inventory.inventory_reservation set warehouse_id = 1;
  update inventory.order_inventory_state set provider = 'builtin_wms';`;

/** Further orders whose stock is at a partner: one that is being reserved, one confirmed, one refused. */
const atPartner = `
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
  update catalog.product_skus set sold = sold + 1 where id = 3;
  insert into inventory.inventory_reservation (biz_type, biz_no, sku_id, qty, status)
    values ('order', 'N5', 3, 1, 'reserved'), ('order', 'N6', 3, 1, 'confirmed'), ('order', 'N7', 3, 1, 'released');
  insert into inventory.order_inventory_state (order_no, provider, status)
    values ('N5', 'external_wms', 'pending'), ('N6', 'external_wms', 'confirmed'), ('N7', 'external_wms', 'failed');
  insert into inventory.inventory_integration_tasks (provider, biz_type, biz_no, action, request_id, sequence_key, payload, status,
      max_attempts, backoff_seconds, completed_at)
    select 'external_wms', 'order', n, a, 'order:' || n || ':' || a, 'order:' || n, '{}', s, 8, 30,
           case when s in ('success', 'failed') then now() end
    from (values ('N5', 'reserve', 'pending'), ('N6', 'reserve', 'success'), ('N6', 'confirm', 'success'), ('N7', 'reserve', 'failed'))
      as t (n, a, s);`;

/** The database itself forbids much of what is broken here: its own checks and references go first. */
const unguarded = (table: string) => `
  do $$ declare c text; begin
    for c in select conname from pg_constraint where conrelid = '${table}'::regclass and contype in ('c', 'f') loop
      execute format('alter table ${table} drop constraint %I', c);
    end loop;
  end $$;`;

type Break = [audit: string, what: string, sql: string, also?: string[]];
const breaks: Break[] = [
  [
    'runtime.jobs_failed',
    'a job is out of attempts',
    `select graphile_worker.permanently_fail_jobs(array[(graphile_worker.add_job('x', '{}')).id])`,
  ],
  [
    'runtime.jobs_late',
    'a due job is not run',
    `select graphile_worker.add_job('x', '{}', run_at => now() - interval '1 hour')`,
  ],
  ['identity.default_address', 'no default', `update identity.addresses set is_default = false where user_id = 1`],
  [
    'identity.default_address',
    'two defaults',
    `drop index identity.addresses_one_default; update identity.addresses set is_default = true where user_id = 1`,
  ],
  [
    'catalog.sku_orphans',
    'its product is gone',
    `${unguarded('catalog.product_skus')} update catalog.product_skus set product_id = 99 where id = 3`,
  ],
  ['catalog.favorite_counts', 'one too many', `update catalog.products set favorite_count = 3 where id = 1`],
  ['catalog.favorite_counts', 'one uncounted', `insert into catalog.favorites (user_id, product_id) values (1, 2)`],
  ['catalog.unpriced', 'a product', `update catalog.products set price = 0 where id = 1`],
  ['catalog.unpriced', 'a SKU', `update catalog.product_skus set price = 0 where id = 1`],
  ['catalog.category_cycles', 'below itself', `update catalog.categories set parent_id = 1 where id = 1`],
  ['catalog.category_cycles', 'in a circle', `update catalog.categories set parent_id = 3 where id = 1`],
  [
    'catalog.category_descendants',
    'one is missing',
    `delete from catalog.category_descendants where ancestor_id = 1 and category_id = 3`,
  ],
  [
    'catalog.category_descendants',
    'one too many',
    `insert into catalog.category_descendants (ancestor_id, category_id) values (3, 1)`,
  ],
  [
    'catalog.category_descendants',
    'of a category that is gone',
    `insert into catalog.category_descendants (ancestor_id, category_id) values (99, 99)`,
  ],
  [
    'inventory.stock_bounds',
    'stock below zero',
    `${unguarded('catalog.product_skus')} update catalog.product_skus set stock = -1 where id = 3`,
    ['inventory.shelf_sums'],
  ],
  [
    'inventory.stock_bounds',
    'more reserved than there is',
    `${unguarded('catalog.product_skus')} update catalog.product_skus set stock = 1 where id = 1`,
    ['inventory.shelf_sums'],
  ],
  [
    'inventory.reserved_stock',
    'held for nobody',
    `update catalog.product_skus set reserved_stock = reserved_stock + 1 where id = 2`,
    ['inventory.shelf_sums'],
  ],
  [
    'inventory.reserved_stock',
    'not held',
    `update catalog.product_skus set reserved_stock = 1 where id = 1`,
    ['inventory.shelf_sums'],
  ],
  [
    'inventory.reserved_stock',
    'held in a warehouse that is disabled',
    `update inventory.warehouses set status = 0 where id = 1; update inventory.provider_state set provider = 'local'`,
  ],
  ['inventory.shelf_sums', 'more on the SKU', `update catalog.product_skus set stock = 11 where id = 1`],
  ['inventory.shelf_sums', 'a disabled warehouse counts', `update catalog.product_skus set stock = 4 where id = 3`],
  [
    'inventory.shelf_reserved',
    'held for nobody',
    `update inventory.inventory_stock set reserved_qty = 1 where sku_id = 3`,
  ],
  [
    'inventory.shelf_reserved',
    'held elsewhere',
    `update inventory.inventory_reservation set warehouse_id = 2 where biz_no = 'N1'`,
    ['inventory.reserved_stock'],
  ],
  [
    'inventory.shelf_movements',
    'a piece without movement',
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
    'inventory.tasks_stuck',
    'nobody looks',
    `update inventory.inventory_integration_tasks set next_retry_at = now() - interval '1 hour' where biz_no = 'N5'`,
  ],
  [
    'inventory.tasks_stuck',
    'a lock that is over',
    `update inventory.inventory_integration_tasks
     set status = 'processing', lock_expires_at = now() - interval '1 hour', next_retry_at = now() - interval '1 hour' where biz_no = 'N5'`,
  ],
  [
    'inventory.task_order',
    'confirmed before it was reserved',
    `insert into inventory.inventory_integration_tasks (provider, biz_type, biz_no, action, request_id, sequence_key, payload, status,
       max_attempts, backoff_seconds, completed_at)
     values ('external_wms', 'order', 'N5', 'confirm', 'order:N5:confirm', 'order:N5', '{}', 'success', 8, 30, now())`,
  ],
  [
    'inventory.task_states',
    'open, but shown as done',
    `update inventory.order_inventory_state set status = 'reserved' where order_no = 'N5';
     update orders.orders set inventory_status = 'reserved' where id = 5`,
  ],
  ['inventory.task_states', 'without a task', `delete from inventory.inventory_integration_tasks where biz_no = 'N5'`],
  ['inventory.sold', 'sold to nobody', `update catalog.product_skus set sold = sold + 1 where id = 3`],
  ['orders.amounts', 'shares of the lines', `update orders.order_items set payable_amount = 479 where sku_id = 2`],
  [
    'orders.amounts',
    'goods of the lines',
    `update orders.order_items set qty = 1, price = 2001 where order_id = 1`,
    ['orders.lines_reserved'],
  ],
  [
    'orders.amounts',
    'total of the order',
    `${unguarded('orders.orders')} update orders.orders set freight_amount = 1 where id = 1`,
  ],
  [
    'orders.amounts',
    'a line dearer than its goods',
    `update orders.order_items set payable_amount = case when sku_id = 2 then 510 else 945 end where order_id = 2`,
  ],
  [
    'orders.without_lines',
    'lines are gone',
    `delete from orders.order_items where order_id = 4`,
    ['orders.lines_reserved'],
  ],
  [
    'orders.line_orphans',
    'order is gone',
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
  ['orders.history_end', 'the last move is missing', `delete from orders.order_history where to_status = 3`],
  ['orders.history_end', 'no history', `delete from orders.order_history where order_id = 4`],
  [
    'orders.history_chain',
    'a move is missing',
    `delete from orders.order_history where order_id = 3 and to_status = 2`,
  ],
  [
    'orders.history_chain',
    'two beginnings',
    `insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type) values (1, null, 1, 'create', 'user')`,
  ],
  ['orders.history_moves', 'nobody pays so', `update orders.order_history set trigger = 'pay' where to_status = 6`],
  [
    'orders.history_moves',
    'begins in the middle',
    `update orders.order_history set to_status = 6 where order_id = 4 and from_status is null;
     delete from orders.order_history where order_id = 4 and from_status = 1`,
  ],
  [
    'orders.history_orphans',
    'order is gone',
    `insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type) values (99, null, 1, 'create', 'user')`,
  ],
  ['orders.paid_at', 'paid at no time', `update orders.orders set paid_at = null where id = 2`],
  ['orders.paid_at', 'unpaid with a time', `update orders.orders set paid_at = now() where id = 4`],
  [
    'orders.stock_state',
    'order and inventory disagree',
    `update inventory.order_inventory_state set status = 'reserved' where order_no = 'N2'`,
  ],
  ['orders.stock_state', 'no state', `delete from inventory.order_inventory_state where order_no = 'N4'`],
  [
    'orders.stock_state',
    'both say that a paid order holds nothing',
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
    'one line of a paid order was given back',
    `update inventory.inventory_reservation set status = 'released' where biz_no = 'N2' and sku_id = 2;
     update catalog.product_skus set sold = 0 where id = 2`,
  ],
  ['orders.payments', 'paid without a payment', `delete from orders.payments where id = 1`],
  ['orders.payments', 'another amount', `update orders.payments set amount = 2399 where id = 1`],
  [
    'orders.payments',
    'paid twice',
    `drop index orders.payments_of_order;
     insert into orders.payments (order_id, provider, method, amount, status, paid_at) values (2, 'instant', 'wechat', 2400, 'succeeded', now())`,
  ],
  [
    'orders.payments',
    'money for an unpaid order is kept',
    `update orders.payments set status = 'succeeded', paid_at = now(), trade_no = 'T5' where id = 5`,
  ],
  [
    'orders.payments',
    'money for a cancelled order is kept',
    `delete from orders.refunds where payment_id = 4; update orders.payments set status = 'succeeded' where id = 4`,
  ],
  ['orders.refunds', 'money goes back by no refund', `delete from orders.refunds where payment_id = 3`],
  ['orders.refunds', 'a part only', `update orders.refunds set amount = 1 where payment_id = 3`],
  ['orders.refunds', 'said to be back too early', `update orders.payments set status = 'refunded' where id = 3`],
  ['orders.refunds', 'back, but not said so', `update orders.payments set status = 'refunding' where id = 4`],
  [
    'orders.refunds',
    'a payment that counts was paid back',
    `insert into orders.refunds (refund_no, payment_id, order_id, provider, reason, amount, currency) values ('R2', 2, 3, 'sandbox', 'already_paid', 3500, 'CNY')`,
  ],
  [
    'orders.refunds_forgotten',
    'no job comes for it',
    `select graphile_worker.remove_job('payments.refund:R3');
     update orders.refunds set updated_at = now() - interval '1 hour' where refund_no = 'R3'`,
  ],
  [
    'orders.refunds_failed',
    'given up',
    `update orders.refunds set status = 'failed', finished_at = now() where refund_no = 'R3'`,
  ],
  [
    'orders.payment_orphans',
    'order is gone',
    `insert into orders.payments (order_id, provider, method, amount, status) values (99, 'instant', 'wechat', 1, 'closed')`,
  ],
  ['orders.expired', 'still unpaid', `update orders.orders set expires_at = now() - interval '1 hour' where id = 1`],
  ['orders.counts', 'a change was lost', `delete from orders.order_changes where status = 6`],
  [
    'orders.counts',
    'counted twice',
    `insert into orders.order_blocks (block, status, payment_method, orders, first_at, last_at) values (7, 1, '', 1, now(), now())`,
  ],
  ['fulfilment.first_shipment', 'none', `delete from fulfilment.shipments where biz_type = 'initial'`],
  [
    'fulfilment.first_shipment',
    'another number',
    `update fulfilment.shipments set tracking_no = 'T4' where biz_type = 'initial'`,
  ],
  [
    'fulfilment.first_shipment',
    'two',
    `drop index fulfilment.shipments_one_initial; update fulfilment.shipments set biz_type = 'initial', tracking_no = 'T3'`,
  ],
  [
    'fulfilment.first_shipment',
    'of an unpaid order',
    `insert into fulfilment.shipments (order_id, delivery_type, direction, biz_type) values (1, 'express', 'outbound', 'initial')`,
  ],
  [
    'fulfilment.shipment_orphans',
    'order is gone',
    `update fulfilment.shipments set order_id = 99 where biz_type = 'reship'`,
  ],
  ['gateway.token_users', 'a token of nobody', `update gateway.api_tokens set user_id = 99 where id = 2`],
  ['gateway.token_users', 'limits of nobody', `update gateway.user_limits set user_id = 99`],
  [
    'gateway.token_trail',
    'nobody made it',
    `delete from gateway.token_changes where action = 'create' and token_id = 1`,
  ],
  ['gateway.token_trail', 'nobody revoked it', `delete from gateway.token_changes where action = 'revoke'`],
  ['gateway.token_trail', 'good again by nobody', `update gateway.api_tokens set revoked_at = null where id = 2`],
  ['gateway.token_limits_trail', 'raised by nobody', `update gateway.api_tokens set rpm_limit = 0 where id = 1`],
  ['gateway.token_limits_trail', 'tokens raised by nobody', `update gateway.api_tokens set tpm_limit = 5 where id = 1`],
  ['gateway.usage_ends', 'ended at no time', `${unguarded('gateway.usage')} update gateway.usage set ended_at = null`],
  ['gateway.usage_ends', 'open with an end', `${unguarded('gateway.usage')} update gateway.usage set state = 'open'`],
  ['gateway.usage_tokens', 'of another user', `update gateway.usage set user_id = 2`],
  ['gateway.usage_tokens', 'its token is gone', `update gateway.usage set token_id = 99 where state = 'open'`],
];

const found = async (database: TestDatabase) => {
  const results = await runAudits(database.sql, audits);
  expect(results.map((result) => result.error)).toEqual(audits.map(() => null));
  return results.filter((result) => !auditPassed(result));
};

describe('an operator is told what is broken, and by the check that names it', () => {
  test.concurrent.each(breaks)('%s: %s', async (audit, _what, sql, also = []) => {
    const database = await cloneDatabase();
    try {
      for (const part of [shopInOrder, inWarehouses, atPartner]) await database.sql.unsafe(part);
      await database.sql.unsafe(sql);
      const broken = await found(database);
      expect(broken.map((result) => result.name).sort()).toEqual([audit, ...also].sort());
      for (const { rows, total } of broken) expect(rows).toHaveLength(total);
    } finally {
      await database.drop();
    }
  });

  test('every check has been seen to find something', () => {
    const proven = new Set(breaks.map(([audit]) => audit));
    expect(audits.map((audit) => audit.name).filter((name) => !proven.has(name))).toEqual([]);
    expect(new Set(audits.map((audit) => audit.name)).size).toBe(audits.length);
  });
});

describe('the command', () => {
  let database: TestDatabase;
  let env: Record<string, string>;
  let on: string[];
  beforeAll(async () => {
    database = await cloneDatabase();
    env = { DATABASE_URL: database.url };
    on = ['--database-url', database.url];
    for (const part of [shopInOrder, inWarehouses, atPartner]) await database.sql.unsafe(part);
  });
  afterAll(() => database?.drop());

  test('a shop in order is clean: exit code 0, the table on stdout, progress on stderr', async () => {
    const { code, stdout, stderr } = await runCommand(['audit'], { env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(`clean: ${audits.length} checks`) });
    expect(stdout).toMatch(/^CHECK +ROWS +MS\n/);
    for (const { name } of audits) expect(stdout).toMatch(new RegExp(`^${name} +ok +\\d`, 'm'));
    expect(stderr).toContain(`${audits.length}/${audits.length} `);
  });

  test('broken rows are shown up to the limit and counted beyond it, with exit code 1', async () => {
    await database.sql`update catalog.product_skus set sold = sold + 1`;
    const plain = await runHere(['audit', '--limit', '2', ...on]);
    expect(plain.code).toBe(1);
    expect(plain.stdout).toMatch(/^inventory\.sold +3 /m);
    expect(plain.stdout).toContain('"sku_id":1');
    expect(plain.stdout).toContain('and 1 more');
    const json = await runHere(['audit', '--json', '--only', 'inventory', ...on]);
    expect(json.code).toBe(1);
    const { ok, checks } = JSON.parse(json.stdout);
    expect(ok).toBe(false);
    const totals = checks.map((check: { name: string; total: number }) => [check.name, check.total]);
    expect(totals.slice(0, 3)).toEqual([
      ['inventory.stock_bounds', 0],
      ['inventory.reserved_stock', 0],
      ['inventory.sold', 3],
    ]);
    expect(totals.slice(3).every(([, total]: [string, number]) => total === 0)).toBe(true);
    expect(checks[2].rows).toHaveLength(3);
    expect(await runHere(['audit', '--only', 'orders.amounts,identity', ...on])).toMatchObject({ code: 0 });
  });

  test('a check that can not be made is no pass, and the others are still made', async () => {
    await database.sql`alter table catalog.favorites rename to favourites`;
    const { code, stdout } = await runHere(['audit', '--only', 'catalog', '--json', ...on]);
    const { checks } = JSON.parse(stdout);
    expect(code).toBe(1);
    expect(checks.length).toBeGreaterThan(1);
    for (const { name, error } of checks)
      expect(error, name).toEqual(name === 'catalog.favorite_counts' ? expect.stringContaining('favorites') : null);
    await database.sql`alter table catalog.favourites rename to favorites`;
  });

  test.each([
    ['--only', 'orders.bogus'],
    ['--limit', '0'],
    ['--limit', 'many'],
  ])('wrong usage ends with 2: %s %s', async (...args) => {
    expect(await runHere(['audit', ...args, ...on])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('error:'),
    });
  });

  test('it changes nothing and waits for nobody', async () => {
    const results = await database.sql.begin(async (tx) => {
      await tx`update catalog.product_skus set updated_at = now()`;
      return runAudits(database.sql, audits);
    });
    expect(results).toHaveLength(audits.length);
  });
});
