-- Login codes by SMS, the mini-program login, and the end of all tokens of an account.

alter table identity.shoppers
  add column wechat_open_id text unique,
  -- the row stays for the orders that name it; whom it was is gone
  add column deleted_at timestamptz;

-- At most one code per phone. `code_hash` is null while the code waits to be sent, and once it is used.
create table identity.sms_codes (
  phone text primary key,
  -- names one request: the job of an older one finds that it is out of date
  request_id uuid not null,
  requested_at timestamptz not null,
  salt bytea,
  code_hash bytea,
  expires_at timestamptz,
  attempts_left smallint not null default 0 check (attempts_left >= 0)
);
create unique index sms_codes_request on identity.sms_codes (request_id);
create index sms_codes_age on identity.sms_codes (requested_at);

-- Tokens of the account with a lower generation are void. Numbers come from one sequence, so that one which is drawn later
-- is higher even after the row of an account has been forgotten.
create sequence identity.token_generation as bigint;
create table identity.token_floors (
  role text not null check (role in ('user', 'admin')),
  account_id bigint not null,
  generation bigint not null,
  raised_at timestamptz not null,
  primary key (role, account_id)
);
create index token_floors_recent on identity.token_floors (raised_at);

-- The end of the longest token that was signed for longer than the configured lifetime.
alter table identity.signing_keys add column needed_until timestamptz;

create index staff_of_role on identity.staff (role_id);
