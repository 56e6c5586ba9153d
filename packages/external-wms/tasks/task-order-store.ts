import type { Queryable } from '@tradepost/postgres';

/**
 * A query for the inventory status of orders from their tasks. While a task is open, the order is pending. `failedNow` are the
 * orders of tasks that fail in this transaction; they are failed at once. When all tasks have ended, the latest task decides.
 */
export const orderStatuses = (sql: Queryable, orderNos: readonly string[], failedNow: readonly string[] = []) => sql`
  select t.biz_no as order_no,
    case when bool_or(t.status in ('pending', 'processing'))
      then case when t.biz_no = any(${[...failedNow]}::text[]) then 'failed' else 'pending' end
      else (array_agg(
        case when t.status = 'failed' then 'failed'
             when t.action = 'reserve' then 'reserved'
             when t.action in ('confirm', 'deduct') then 'confirmed'
             when t.action in ('release', 'restore') then 'released'
             else 'none' end
        order by t.id desc))[1]
    end as status,
    coalesce((array_agg(t.last_error order by t.id desc) filter (where t.status = 'failed'))[1], '') as last_error
  from inventory.inventory_integration_tasks t
  where t.biz_type = 'order' and t.biz_no = any(${[...orderNos]}::text[])
  group by t.biz_no`;
