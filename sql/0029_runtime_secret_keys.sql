-- The keys that have sealed secrets of this database. The keys themselves are in the key file. A process whose file has
-- none of these keys stores no secrets, so that the secrets of one shop never need two files.
create table runtime.secret_keys (
  -- derived from the key
  id text primary key check (id ~ '^[0-9a-f]{8}$'),
  created_at timestamptz not null default now()
);
