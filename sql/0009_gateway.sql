-- The LLM gateway: who may call it, what they may use, and what they used; and the trail of changed settings.

create table runtime.setting_changes (
  id bigint generated always as identity primary key,
  key text not null,
  -- null: the default was in force, or is again; secrets are `"***"`
  before jsonb,
  after jsonb,
  -- `admin:3`, or `cli` for an operator at the terminal
  changed_by text not null,
  changed_at timestamptz not null default now()
);
create index setting_changes_of_key on runtime.setting_changes (key, id);

create schema gateway;

create table gateway.api_tokens (
  id bigint generated always as identity primary key,
  -- identity.shoppers; an account that is disabled or gone opens nothing
  user_id bigint not null,
  name text not null default '',
  -- the first characters of the secret, for recognition; no secret of its own
  prefix text not null,
  -- sha-256 of the secret, which is random and shown once
  token_hash bytea not null unique,
  -- of the secret before the last rotation, good until `previous_until`
  previous_hash bytea unique,
  previous_until timestamptz,
  -- null inherits the user's value, 0 is unlimited
  rpm_limit bigint check (rpm_limit >= 0),
  tpm_limit bigint check (tpm_limit >= 0),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index api_tokens_of_user on gateway.api_tokens (user_id, id);
create index api_tokens_changed on gateway.api_tokens (updated_at);

-- A customer whose limits are not the default ones; null inherits.
create table gateway.user_limits (
  user_id bigint primary key,
  rpm_limit bigint check (rpm_limit >= 0),
  tpm_limit bigint check (tpm_limit >= 0),
  updated_at timestamptz not null default now()
);
create index user_limits_changed on gateway.user_limits (updated_at);

-- Who changed which token or limit; never a secret.
create table gateway.token_changes (
  id bigint generated always as identity primary key,
  token_id bigint,
  user_id bigint not null,
  action text not null check (action in ('create', 'update', 'revoke', 'rotate', 'user_limits')),
  details jsonb not null default '{}',
  changed_by text not null,
  changed_at timestamptz not null default now()
);
create index token_changes_of_user on gateway.token_changes (user_id, id);

-- One row per request that was let through to an upstream, committed before its answer begins.
create table gateway.usage (
  id uuid primary key,
  user_id bigint not null,
  token_id bigint not null,
  endpoint text not null,
  -- as the client named it, and as the upstream did
  model text not null,
  upstream text,
  upstream_model text,
  stream boolean not null default false,
  -- open: not ended yet, or its process died; then only what was charged is known
  state text not null check (state in ('open', 'done', 'failed', 'cancelled')),
  http_status int,
  attempts int not null default 0,
  -- what the limiter charged: the estimated input and the most output the request allowed
  estimated_input_tokens bigint not null,
  max_output_tokens bigint not null,
  -- what the upstream says was used; estimated where it says nothing
  input_tokens bigint,
  output_tokens bigint,
  usage_source text check (usage_source in ('upstream', 'estimated')),
  first_byte_ms int,
  duration_ms int,
  started_at timestamptz not null,
  ended_at timestamptz,
  check ((state = 'open') = (ended_at is null))
) with (fillfactor = 80);
create index usage_of_user on gateway.usage (user_id, started_at);
create index usage_of_token on gateway.usage (token_id, started_at);
create index usage_started on gateway.usage (started_at);
create index usage_open on gateway.usage (started_at) where state = 'open';
