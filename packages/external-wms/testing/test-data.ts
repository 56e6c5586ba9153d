import type { TestData } from '@tradepost/testing/test-data';

/** The tasks of the orders N5 to N7. */
const rows = `
  insert into inventory.inventory_integration_tasks (provider, biz_type, biz_no, action, request_id, sequence_key, payload, status,
      max_attempts, backoff_seconds, completed_at)
    select 'external_wms', 'order', n, a, 'order:' || n || ':' || a, 'order:' || n, '{}', s, 8, 30,
           case when s in ('success', 'failed') then now() end
    from (values ('N5', 'reserve', 'pending'), ('N6', 'reserve', 'success'), ('N6', 'confirm', 'success'), ('N7', 'reserve', 'failed'))
      as t (n, a, s);`;

export const testData: TestData = {
  rows,
  auditCases: [
    [
      'inventory.tasks_stuck',
      'no worker polls',
      `update inventory.inventory_integration_tasks set next_retry_at = now() - interval '1 hour' where biz_no = 'N5'`,
    ],
    [
      'inventory.tasks_stuck',
      'a lock that has expired',
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
    [
      'inventory.task_states',
      'without a task',
      `delete from inventory.inventory_integration_tasks where biz_no = 'N5'`,
    ],
  ],
  makers: {
    // Failed reserve tasks of unpaid orders, which can be retried.
    tasks: ({ sql, make, repeat }, count, options) =>
      repeat(count, async () => {
        const [orderId] = await make('orders', 1, { ...options, order: 'unpaid' });
        const [row] = await sql<{ id: number }[]>`
          with state as (
            update inventory.order_inventory_state s set provider = 'external_wms', status = 'failed'
            from orders.orders o where o.id = ${Number(orderId)} and o.order_no = s.order_no returning s.order_no
          ), reserved as (
            update inventory.inventory_reservation r set status = 'released' from state where r.biz_no = state.order_no
          )
          insert into inventory.inventory_integration_tasks (provider, biz_type, biz_no, action, request_id, sequence_key,
            payload, status, attempt_count, max_attempts, backoff_seconds, completed_at)
          select 'external_wms', 'order', order_no, 'reserve', 'order:' || order_no || ':reserve', 'order:' || order_no, '{}',
            'failed', 1, 1, 0, now()
          from state returning id`;
        return row!.id;
      }),
  },
};
