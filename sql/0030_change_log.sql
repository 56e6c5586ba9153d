-- The change log: what administrators and operators changed, with the rows before and after.

-- The names of administrators, for packages that show who did something.
create view identity.staff_names as select id, username as name from identity.staff;

create schema change_log;

-- One row per changed row. It is written by triggers, in the transaction of the change.
create table change_log.changes (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  source text not null check (source in ('api', 'cli')),
  -- null: a user of the operating system, by a command
  staff_id bigint,
  -- the name at that time: an administrator can be renamed or removed
  actor_name text not null,
  address text not null,
  request_id text not null,
  -- the route or the command
  action text not null,
  table_name text not null,
  -- the primary key, joined with commas
  row_id text not null,
  operation text not null check (operation in ('insert', 'update', 'delete')),
  -- an update has the changed columns only
  before jsonb,
  after jsonb,
  check ((before is null) = (operation = 'insert') and (after is null) = (operation = 'delete'))
);
create index changes_time on change_log.changes (at, id);
create index changes_of_staff on change_log.changes (staff_id, at, id) where staff_id is not null;
create index changes_of_row on change_log.changes (table_name, row_id, at, id);
create index changes_of_action on change_log.changes (action, at, id);
create index changes_of_request on change_log.changes (request_id);

-- The watched tables, for the audits and the doctor.
create table change_log.watched_tables (
  table_name text primary key,
  secrets text[] not null
);

-- A value as it is recorded. A long one is cut, so that a row stays small.
create function change_log.recorded(value jsonb, is_secret boolean) returns jsonb
language sql immutable parallel safe as $$
  select case
    when is_secret and value <> 'null' then '"***"'
    when length(value::text) > 4000 then to_jsonb(left(value::text, 4000) || ' ...')
    else value
  end
$$;

-- The trigger of a watched table. Its arguments: the columns of the primary key, the columns that are not recorded, and the
-- secret columns, each joined with commas. A secret is recorded as ***, so its change is seen and its value is not.
create function change_log.record_change() returns trigger language plpgsql as $$
declare
  actor jsonb := current_setting('tradepost.actor');
  hidden text[] := string_to_array(tg_argv[1], ',');
  secrets text[] := string_to_array(tg_argv[2], ',');
  old_row jsonb;
  new_row jsonb;
  row_before jsonb;
  row_after jsonb;
begin
  if tg_op <> 'INSERT' then old_row := to_jsonb(old) - hidden; end if;
  if tg_op <> 'DELETE' then new_row := to_jsonb(new) - hidden; end if;
  if tg_op = 'UPDATE' then
    select jsonb_object_agg(b.key, change_log.recorded(b.value, b.key = any(secrets))),
           jsonb_object_agg(b.key, change_log.recorded(a.value, b.key = any(secrets)))
    into row_before, row_after
    from jsonb_each(old_row) as b join jsonb_each(new_row) as a using (key)
    where b.value <> a.value;
    if row_before is null then return null; end if;
  else
    select jsonb_object_agg(key, change_log.recorded(value, key = any(secrets))) into row_before from jsonb_each(old_row);
    select jsonb_object_agg(key, change_log.recorded(value, key = any(secrets))) into row_after from jsonb_each(new_row);
  end if;
  insert into change_log.changes
    (source, staff_id, actor_name, address, request_id, action, table_name, row_id, operation, before, after)
  values (
    actor ->> 'source', (actor ->> 'staff_id')::bigint,
    coalesce(actor ->> 'name', (select name from identity.staff_names where id = (actor ->> 'staff_id')::bigint), ''),
    actor ->> 'address', actor ->> 'request_id', actor ->> 'action',
    tg_table_schema || '.' || tg_table_name,
    (select coalesce(string_agg(coalesce(new_row, old_row) ->> key, ',' order by position), '')
     from unnest(string_to_array(tg_argv[0], ',')) with ordinality as k (key, position)),
    lower(tg_op), row_before, row_after);
  return null;
end
$$;

-- Watches a table: its changes are recorded when the transaction or the session names an actor (`tradepost.actor`). Changes of
-- columns in `hidden` and of `updated_at` are not recorded; of columns in `secrets` only that they happened. To be called again
-- when these columns change. The condition of the trigger keeps the writes of shoppers and jobs cheap.
create function change_log.watch(watched regclass, hidden text[] default '{}', secrets text[] default '{}') returns void
language plpgsql as $$
declare
  columns text[] := array(select attname from pg_attribute where attrelid = watched and attnum > 0 and not attisdropped);
  keys text;
  unknown text;
begin
  select column_name into unknown from unnest(hidden || secrets) as column_name where column_name <> all(columns) limit 1;
  if unknown is not null then
    raise exception '% has no column %', watched, unknown;
  end if;
  select string_agg(a.attname, ',' order by k.position) into keys
  from pg_index i
  cross join unnest(i.indkey) with ordinality as k (attnum, position)
  join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
  where i.indrelid = watched and i.indisprimary;
  execute format('drop trigger if exists change_log on %s', watched);
  execute format(
    'create trigger change_log after insert or update or delete on %s for each row '
    'when (current_setting(''tradepost.actor'', true) <> '''') execute function change_log.record_change(%L, %L, %L)',
    watched, coalesce(keys, ''), array_to_string(hidden || 'updated_at'::text, ','), array_to_string(secrets, ','));
  insert into change_log.watched_tables (table_name, secrets)
  select n.nspname || '.' || c.relname, watch.secrets
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = watched
  on conflict (table_name) do update set secrets = excluded.secrets;
end
$$;

-- The history of settings has the secrets masked already, so it is watched instead of the settings.
select change_log.watch('runtime.setting_changes');
select change_log.watch('storage.files', array['unreferenced_since', 'changed_at']);
select change_log.watch('identity.roles');
select change_log.watch('identity.staff', '{}', array['password_hash']);
select change_log.watch('identity.signing_keys', array['needed_until'], array['secret']);
select change_log.watch('catalog.categories');
select change_log.watch('catalog.products', array['search', 'search_titles', 'favorite_count', 'sales_seen']);
select change_log.watch('catalog.product_images');
select change_log.watch('catalog.product_skus', array['reserved_stock', 'sold']);
select change_log.watch('catalog.spec_templates');
select change_log.watch('inventory.warehouses');
select change_log.watch('inventory.inventory_stock', array['reserved_qty']);
select change_log.watch('inventory.stock_documents');
select change_log.watch('inventory.stock_document_items');
select change_log.watch('inventory.provider_state');
select change_log.watch('inventory.inventory_integration_tasks', array['payload', 'lock_owner', 'lock_expires_at']);
select change_log.watch('orders.orders', array['address_snapshot', 'province']);
select change_log.watch('orders.order_items');
select change_log.watch('orders.order_notes');
select change_log.watch('orders.reminders');
select change_log.watch('orders.refunds');
select change_log.watch('fulfilment.shipments', array['next_query_at', 'claimed_until']);
select change_log.watch('fulfilment.after_sale_cases');
select change_log.watch('fulfilment.after_sale_messages');
select change_log.watch('fulfilment.after_sale_evidences');
select change_log.watch('reviews.review_replies');
select change_log.watch('gateway.api_tokens', array['last_used_at'], array['token_hash', 'previous_hash']);
select change_log.watch('gateway.user_limits');
