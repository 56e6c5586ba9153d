create schema storage;

-- One row per uploaded file. The row exists before the object and outlives it, so neither is ever without the other:
-- `pending` while the object is written, `stored` when it is complete, `removing` while it is removed.
create table storage.files (
  id bigint generated always as identity primary key,
  state text not null default 'pending' check (state in ('pending', 'stored', 'removing')),
  driver text not null,
  -- yyyy/mm/<nanoseconds>_<12 hex>.<extension>; unique over all drivers
  path text not null unique,
  -- as other tables store it: /uploads/<path>, or an absolute URL
  address text not null default '',
  size bigint not null default 0,
  mime text not null,
  owner_role text not null check (owner_role in ('user', 'admin')),
  owner_id bigint not null,
  created_at timestamptz not null default now(),
  -- since when the sweep finds no reference; null while there is one
  unreferenced_since timestamptz,
  changed_at timestamptz not null default now()
);
-- the uploads of an account in the last hour
create index files_of_owner on storage.files (owner_role, owner_id, created_at);
create index files_unfinished on storage.files (changed_at) where state <> 'stored';

-- The entries of the registry of file references that have ever run on this database. While one of them is missing,
-- nobody can say which files are in use, and no file is removed.
create table storage.reference_names (
  name text primary key,
  first_seen_at timestamptz not null default now()
);
