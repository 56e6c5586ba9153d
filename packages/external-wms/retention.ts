import { isOrderOpen } from '@tradepost/inventory';
import { type RetentionRule, retentionDays } from '@tradepost/runtime';

const tasksDays = retentionDays('warehouse_tasks', 90, 'finished tasks for the external warehouse');
const callbacksDays = retentionDays('warehouse_callbacks', 90, 'callbacks of the external warehouse');
export const externalWmsRetentionSettings = [tasksDays, callbacksDays] as const;

export const externalWmsRetention: readonly RetentionRule[] = [
  {
    name: 'warehouse_tasks',
    // A failed task waits for an operator. The tasks of an order are deleted together, after its stock is confirmed or released.
    about: 'tasks that the external warehouse has carried out',
    table: 'inventory.inventory_integration_tasks',
    age: 't.completed_at',
    where: (sql, before) => sql`
      t.status = 'success' and (t.biz_type <> 'order' or (
        not exists (
          select from inventory.inventory_integration_tasks o
          where o.biz_no = t.biz_no and o.biz_type = t.biz_type and (o.status <> 'success' or o.completed_at >= ${before}))
        and not ${isOrderOpen(sql, sql`t.biz_no`)}))`,
    days: tasksDays,
  },
  {
    name: 'warehouse_callbacks',
    about: 'callbacks of the external warehouse',
    table: 'inventory.external_callbacks',
    age: 't.received_at',
    days: callbacksDays,
  },
];
