-- Which worker processes run jobs. graphile-worker keeps the jobs of a worker that died locked for four hours; whoever finds a
-- worker here that is gone frees them.
create table runtime.workers (
  -- what graphile-worker writes into `locked_by`
  id text primary key,
  -- its session holds the advisory lock of this id for as long as it lives; false behind a transaction pooler
  holds_lock boolean not null,
  seen_at timestamptz not null default now()
);
