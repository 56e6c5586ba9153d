-- Writes that can be repeated: a key is claimed before its request runs, and keeps the answer for a day.
create table runtime.idempotency_keys (
  -- `user:12` or `admin:1`: a key belongs to who sent it
  caller text not null,
  key text not null,
  -- of method, path and body: another request under the same key is refused
  fingerprint bytea not null,
  -- the process that runs the request
  instance text not null,
  claimed_at timestamptz not null default now(),
  -- what the use case did, written in its own transaction: there exactly when the write is
  outcome jsonb,
  status smallint,
  code int,
  answer text,
  expires_at timestamptz not null,
  primary key (caller, key)
);
create index idempotency_keys_expiry on runtime.idempotency_keys (expires_at);
