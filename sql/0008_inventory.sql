-- The warehouses of builtin_wms, and the books of what an external warehouse has been told.

create table inventory.warehouses (
  id bigint generated always as identity primary key,
  code text not null unique,
  name text not null,
  address text not null default '',
  contact text not null default '',
  phone text not null default '',
  status smallint not null default 1 check (status in (0, 1)),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- The ledger. A row is changed only by who holds the lock of its SKU (catalog.product_skus), whose stock and reserved_stock
-- are the sums over the enabled warehouses. Room in each page keeps the updates heap-only.
create table inventory.inventory_stock (
  id bigint generated always as identity primary key,
  warehouse_id bigint not null references inventory.warehouses (id),
  sku_id bigint not null,
  qty int not null default 0 check (qty >= 0),
  reserved_qty int not null default 0 check (reserved_qty >= 0 and reserved_qty <= qty),
  safe_qty int not null default 0 check (safe_qty >= 0),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (sku_id, warehouse_id)
) with (fillfactor = 60);
create index inventory_stock_of_warehouse on inventory.inventory_stock (warehouse_id, id);

create table inventory.stock_documents (
  id bigint generated always as identity primary key,
  doc_no text not null unique,
  warehouse_id bigint not null references inventory.warehouses (id),
  doc_type text not null check (doc_type in ('inbound', 'outbound')),
  status text not null default 'draft' check (status in ('draft', 'completed', 'canceled')),
  -- who made it: manual, or what it was written for by the shop itself, with that thing's number
  biz_type text not null default 'manual' check (biz_type in ('manual', 'takeover', 'deduct', 'restore')),
  biz_no text not null default '',
  remark text not null default '',
  created_by bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  completed_at timestamptz,
  canceled_at timestamptz,
  check ((status = 'completed') = (completed_at is not null)),
  check ((status = 'canceled') = (canceled_at is not null))
);
create index stock_documents_of_warehouse on inventory.stock_documents (warehouse_id, id desc);
create index stock_documents_created on inventory.stock_documents (created_at);
-- What the shop writes for one thing is written once per warehouse.
create unique index stock_documents_of_biz on inventory.stock_documents (biz_type, biz_no, doc_type, warehouse_id)
  where biz_no <> '';

create table inventory.stock_document_items (
  id bigint generated always as identity primary key,
  doc_id bigint not null references inventory.stock_documents (id) on delete cascade,
  sku_id bigint not null,
  qty int not null check (qty > 0),
  unit_cost bigint not null default 0 check (unit_cost >= 0),
  remark text not null default ''
);
create index stock_document_items_of_doc on inventory.stock_document_items (doc_id, id);

-- Every change of a quantity with what it was before and after; the changes of a warehouse and SKU add up to its qty.
create table inventory.stock_movements (
  id bigint generated always as identity primary key,
  warehouse_id bigint not null,
  sku_id bigint not null,
  biz_type text not null check (biz_type in ('inbound', 'outbound', 'reserve', 'release', 'order_outbound')),
  change_qty int not null,
  before_qty int not null check (before_qty >= 0),
  after_qty int not null check (after_qty = before_qty + change_qty and after_qty >= 0),
  -- 0: an order, whose number is doc_no
  doc_id bigint not null default 0,
  doc_no text not null,
  occurred_at timestamptz not null default now()
);
create index stock_movements_of_sku on inventory.stock_movements (sku_id, id desc);
create index stock_movements_of_doc on inventory.stock_movements (doc_no, id desc);
-- Rows come in the order of time: a few ranges of pages are enough to find a day.
create index stock_movements_time on inventory.stock_movements using brin (occurred_at) with (autosummarize = on);

-- The provider in force, noticed at start: a change of it takes the books along (packages/inventory/README.md).
create table inventory.provider_state (
  only_row boolean primary key default true check (only_row),
  provider text not null check (provider in ('local', 'builtin_wms', 'external_wms')),
  -- all that were ever in force here: their orders may still be open
  known text[] not null,
  since timestamptz not null default now()
);

-- Fails a write of stock by a process that started under another provider: books that have been taken over are not its own any
-- more. To be sent after the SKUs' locks: a take-over into or out of warehouses holds them all.
create function inventory.must_keep_stock(on_shelves boolean) returns void language plpgsql as $$
begin
  if on_shelves <> exists (select from inventory.provider_state where provider = 'builtin_wms') then
    raise exception 'another inventory.provider is in force: this process has to be restarted' using errcode = 'TP503';
  end if;
end
$$;

-- Fails the orders of reservations that were made ahead and given up before they were written.
create function inventory.must_be_held(holds boolean) returns void language plpgsql as $$
begin
  if holds is not true then
    raise exception 'a reservation was given up before its order was written' using errcode = 'TP503';
  end if;
end
$$;

-- What an external warehouse is to be told, or was.
create table inventory.inventory_integration_tasks (
  id bigint generated always as identity primary key,
  provider text not null,
  biz_type text not null,
  biz_no text not null,
  action text not null check (action in ('reserve', 'confirm', 'release', 'deduct', 'restore', 'sync_sku')),
  request_id text not null unique,
  -- tasks of one key are delivered one after the other, in the order of their ids
  sequence_key text not null,
  -- sync: called by whoever waits for the answer; async: by the worker
  mode text not null default 'async' check (mode in ('sync', 'async')),
  payload jsonb not null,
  status text not null default 'pending' check (status in ('pending', 'processing', 'success', 'failed')),
  attempt_count int not null default 0,
  max_attempts int not null check (max_attempts > 0),
  backoff_seconds int not null check (backoff_seconds >= 0),
  -- when a worker has to look at it next; of a claimed one, when its lock or its callback is overdue
  next_retry_at timestamptz not null default now(),
  last_code int,
  last_error text not null default '',
  lock_owner text,
  lock_expires_at timestamptz,
  -- the partner has taken it and will call back
  accepted_at timestamptz,
  completed_at timestamptz,
  last_callback_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((status in ('success', 'failed')) = (completed_at is not null)),
  check ((status = 'processing') = (lock_expires_at is not null))
) with (fillfactor = 70);
create index integration_tasks_due on inventory.inventory_integration_tasks (next_retry_at, id)
  where status in ('pending', 'processing');
create index integration_tasks_of_key on inventory.inventory_integration_tasks (sequence_key, id);
-- Whether one is waited for: a SKU that is announced for years has thousands that have ended.
create index integration_tasks_open_of_key on inventory.inventory_integration_tasks (sequence_key, id)
  where status in ('pending', 'processing');
create index integration_tasks_of_biz on inventory.inventory_integration_tasks (biz_no, biz_type, id);
create index integration_tasks_failed on inventory.inventory_integration_tasks (id) where status = 'failed';

-- Every callback that was signed by the partner, once per callback_id, with what became of it.
create table inventory.external_callbacks (
  callback_id text primary key,
  request_id text not null,
  task_id bigint,
  status text not null,
  message text not null default '',
  -- the inner body as it was signed
  body text not null,
  outcome text not null check (outcome in ('applied', 'ignored', 'unknown_task')),
  seen int not null default 1,
  received_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now()
);
create index external_callbacks_of_request on inventory.external_callbacks (request_id);
create index external_callbacks_received on inventory.external_callbacks (received_at);
create table inventory.external_nonces (
  nonce text primary key,
  used_at timestamptz not null default now()
);
create index external_nonces_used on inventory.external_nonces (used_at);
