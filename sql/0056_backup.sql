create schema backup;

-- The backups that were made on schedule or by the command, and those that failed. A row is written when a backup ends.
create table backup.runs (
  id bigint generated always as identity primary key,
  is_scheduled boolean not null,
  started_at timestamptz not null,
  ended_at timestamptz not null default now(),
  -- the file, folder or bucket; without keys
  location text not null,
  bytes bigint not null default 0 check (bytes >= 0),
  rows bigint not null default 0 check (rows >= 0),
  files bigint not null default 0 check (files >= 0),
  -- why it failed; empty when it is complete
  error text not null default '',
  check (ended_at >= started_at)
);
create index runs_started on backup.runs (started_at desc);
