import type { Audit } from '@tradepost/runtime';

/** Much longer than the pause between two polls of a worker. */
const pollsWithin = '10 minutes';

export const externalWmsAudits: readonly Audit[] = [
  {
    name: 'inventory.tasks_stuck',
    about: `no task for the external warehouse is overdue by ${pollsWithin}; an overdue task means that no worker delivers`,
    pendingWork: true,
    query: (sql, now) => sql`
      select id as task_id, request_id, status, attempt_count, next_retry_at, lock_owner, lock_expires_at
      from inventory.inventory_integration_tasks
      where status in ('pending', 'processing') and next_retry_at < ${now} - ${pollsWithin}::interval`,
  },
  {
    name: 'inventory.task_order',
    about: 'tasks of one document are delivered in their order: no task began before the task before it had ended',
    query: (sql) => sql`
      select t.id as task_id, t.request_id, t.status, e.id as earlier_id, e.request_id as earlier, e.status as earlier_status
      from inventory.inventory_integration_tasks t
      join inventory.inventory_integration_tasks e on e.sequence_key = t.sequence_key and e.id < t.id
      where e.status in ('pending', 'processing') and t.status in ('processing', 'success')`,
  },
  {
    name: 'inventory.task_states',
    about:
      'the inventory status of an order at an external warehouse follows its tasks: pending while a task is open, else the result of the last task; a failed task shows as failed',
    query: (sql) => sql`
      select o.order_no, o.status, t.last_request, t.open, t.last_status
      from inventory.order_inventory_state o
      left join (
        select biz_no, count(*) filter (where status in ('pending', 'processing')) as open,
               count(*) filter (where status = 'failed') as failed,
               (array_agg(request_id order by id desc))[1] as last_request,
               (array_agg(status order by id desc))[1] as last_status,
               (array_agg(action order by id desc))[1] as last_action
        from inventory.inventory_integration_tasks where biz_type = 'order' group by biz_no) as t on t.biz_no = o.order_no
      -- Old tasks of an order whose stock is settled are deleted (retention.warehouse_tasks_days).
      where o.provider = 'external_wms'
        and not (t.biz_no is null and o.status in ('confirmed', 'released'))
        and (t.biz_no is null or o.status <> case
        when t.open > 0 then case when t.failed > 0 and o.status = 'failed' then 'failed' else 'pending' end
        when t.last_status = 'failed' then 'failed'
        when t.last_action in ('confirm', 'deduct') then 'confirmed'
        when t.last_action in ('release', 'restore') then 'released'
        else 'reserved' end)`,
  },
];
