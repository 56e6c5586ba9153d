create schema if not exists backoffice;

-- Texts for the staff of the shop. A withdrawn one stays until the retention rule deletes it.
create table backoffice.announcements (
  id bigint generated always as identity primary key,
  title text not null check (title <> ''),
  content text not null check (content <> ''),
  type text not null default 'normal' check (type in ('normal', 'urgent', 'info')),
  starts_at timestamptz,
  ends_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  withdrawn_at timestamptz,
  check (ends_at > starts_at)
);
