-- What a payment provider answered when a payment was opened there, and refunds that a provider carries out later.

alter table orders.payments
  -- the way to pay at the provider, such as jsapi; '' where the provider has only one
  add column channel text not null default '',
  -- how the shopper pays: pay_url, pay_params, provider_ref
  add column pay_action jsonb,
  -- the provider has to be asked again afterwards; null: never
  add column action_until timestamptz;

-- The provider accepted the refund and has not carried it out: it is asked again at this time when no notice arrives.
alter table orders.refunds add column check_at timestamptz;

-- Reconciliation reads what a provider paid in a period. Instant payments, the hot path, are not in the index.
create index payments_of_provider on orders.payments (provider, paid_at, id) where payment_no is not null and paid_at is not null;
create index refunds_of_provider on orders.refunds (provider, finished_at, id) where status = 'succeeded' and provider <> 'instant';
