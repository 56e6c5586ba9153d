-- Payments by a provider that notifies us, their notices, and the way back of money that can not be used.

-- A payment of the provider `instant` has no number of its own: it is shown as I and its id.
drop index orders.payments_of_order;
alter table orders.payments
  add column payment_no text,
  -- the provider's own number of the money
  add column trade_no text,
  add column currency text not null default 'CNY',
  add column return_url text not null default '',
  -- money that came in a second time under a payment's number: that payment
  add column origin_id bigint,
  add column paid_at timestamptz,
  add column updated_at timestamptz not null default now(),
  drop constraint payments_status_check,
  add constraint payments_status_check
    check (status in ('pending', 'succeeded', 'failed', 'closed', 'refunding', 'refunded'));
update orders.payments set paid_at = created_at, updated_at = created_at;
alter table orders.payments
  add constraint payments_have_a_number check (payment_no is not null or provider = 'instant'),
  add constraint payments_paid_or_not
    check ((status in ('succeeded', 'refunding', 'refunded')) = (paid_at is not null)),
  add constraint payments_know_their_money
    check (paid_at is null or provider = 'instant' or trade_no is not null);
-- Finds an order's payments, and lets only one of them settle it. One index for both: instant payments are a hot path.
create unique index payments_of_order on orders.payments (order_id, (case status when 'succeeded' then 0 else id end));
create unique index payments_by_number on orders.payments (payment_no) where payment_no is not null;
create unique index payments_by_trade on orders.payments (provider, trade_no) where trade_no is not null;
create unique index payments_one_open on orders.payments (order_id, provider) where status = 'pending';

-- What providers told us, one row per distinct message; refused ones are money an operator has to look after.
create table orders.payment_notices (
  id bigint generated always as identity primary key,
  provider text not null,
  -- SHA-256 of the body as it came
  digest bytea not null,
  payment_no text not null,
  trade_no text not null,
  amount bigint not null,
  currency text not null,
  status text not null,
  outcome text not null check (outcome in
    ('paid', 'failed', 'surplus', 'repeated', 'unknown_payment', 'amount_mismatch', 'trade_conflict')),
  payment_id bigint,
  order_id bigint,
  seen int not null default 1,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  unique (provider, digest)
);
create index payment_notices_refused on orders.payment_notices (id)
  where outcome in ('unknown_payment', 'amount_mismatch', 'trade_conflict');

create table orders.payment_nonces (
  provider text not null,
  nonce text not null,
  digest bytea not null,
  created_at timestamptz not null default now(),
  primary key (provider, nonce)
);
create index payment_nonces_age on orders.payment_nonces (created_at);

create table orders.refunds (
  id bigint generated always as identity primary key,
  -- the provider's idempotency key: however often it is asked, it pays back once
  refund_no text not null unique,
  payment_id bigint not null references orders.payments (id),
  order_id bigint not null,
  provider text not null,
  reason text not null,
  amount bigint not null check (amount >= 0),
  currency text not null,
  status text not null default 'pending' check (status in ('pending', 'succeeded', 'failed')),
  attempts int not null default 0,
  provider_ref text not null default '',
  last_error text not null default '',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  finished_at timestamptz,
  unique (payment_id, reason),
  check ((status = 'pending') = (finished_at is null))
);
create index refunds_of_order on orders.refunds (order_id);
create index refunds_unsettled on orders.refunds (updated_at) where status <> 'succeeded';
