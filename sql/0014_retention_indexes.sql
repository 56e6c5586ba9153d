-- The oldest rows of what is deleted by age (`tradepost retention list`).
create index setting_changes_age on runtime.setting_changes (changed_at);
create index token_changes_age on gateway.token_changes (changed_at);
create index reminders_age on orders.reminders (created_at);
create index integration_tasks_done on inventory.inventory_integration_tasks (completed_at) where status = 'success';
