-- The transactional outbox: what has happened, written in the transaction of the change, and read by every interested package.
create table runtime.outbox (
  id bigint generated always as identity primary key,
  -- order.paid
  name text not null,
  -- Events of one subject are dispatched in the order of their ids: order:123
  subject text not null,
  data jsonb not null check (jsonb_typeof(data) = 'object'),
  occurred_at timestamptz not null,
  dispatched_at timestamptz,
  attempts int not null default 0,
  last_error text not null default '',
  due_at timestamptz not null default now(),
  -- all attempts are used; an operator retries or discards the event
  failed_at timestamptz,
  check (dispatched_at is null or failed_at is null)
);
create index outbox_pending on runtime.outbox (id) where dispatched_at is null and failed_at is null;
-- The subjects whose events wait for another attempt. Almost always empty.
create index outbox_retrying on runtime.outbox (subject, id) where dispatched_at is null and failed_at is null and attempts > 0;
create index outbox_failed on runtime.outbox (id desc) where failed_at is not null;
create index outbox_age on runtime.outbox (occurred_at);
