-- Memberships: plans that shoppers buy, levels by growth, prices for members, monthly coupons.
create schema vip;

create table vip.plans (
  id bigint generated always as identity primary key,
  name text not null check (name <> '' and length(name) <= 64),
  months int not null check (months between 1 and 120),
  price bigint not null check (price >= 0),
  -- the price for an active member; 0: the same price
  renew_price bigint not null default 0 check (renew_price >= 0),
  status smallint not null default 1 check (status in (0, 1)),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table vip.levels (
  id bigint generated always as identity primary key,
  name text not null check (name <> '' and length(name) <= 64),
  growth_threshold bigint not null check (growth_threshold >= 0),
  -- 1/10,000: what a client shows; prices come from vip.sku_prices
  discount_rate int not null default 10000 check (discount_rate between 0 and 10000),
  sort int not null default 0,
  status smallint not null default 1 check (status in (0, 1)),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
-- The level of a growth is read, and never stored: a change of the levels applies to all shoppers at once.
create index levels_by_growth on vip.levels (growth_threshold desc, id desc) where status = 1;

create table vip.coupon_rules (
  id bigint generated always as identity primary key,
  name text not null check (name <> '' and length(name) <= 64),
  -- 0: found by its name
  coupon_id bigint not null default 0 check (coupon_id >= 0),
  coupon_name text not null default '' check (length(coupon_name) <= 128),
  -- 0: all
  plan_id bigint not null default 0 check (plan_id >= 0),
  level_id bigint not null default 0 check (level_id >= 0),
  claim_mode text not null default 'manual' check (claim_mode = 'manual'),
  monthly_quota int not null default 1 check (monthly_quota between 0 and 1000),
  status smallint not null default 1 check (status in (0, 1)),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (coupon_id > 0 or coupon_name <> '')
);

create table vip.sku_prices (
  id bigint generated always as identity primary key,
  product_id bigint not null check (product_id > 0),
  -- 0: all SKUs of the product
  sku_id bigint not null default 0 check (sku_id >= 0),
  level_id bigint not null references vip.levels (id),
  -- 0: the price is multiplied by the rate, 1/10,000
  vip_price bigint not null default 0 check (vip_price >= 0),
  vip_discount_rate int not null default 0 check (vip_discount_rate between 0 and 10000),
  status smallint not null default 1 check (status in (0, 1)),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint sku_prices_key unique (product_id, sku_id, level_id),
  check (vip_price > 0 or vip_discount_rate > 0)
);
create index sku_prices_of_sku on vip.sku_prices (sku_id, level_id) where sku_id > 0;
create index sku_prices_of_level on vip.sku_prices (level_id, id);

-- The membership and the growth of a shopper.
create table vip.assets (
  id bigint generated always as identity primary key,
  user_id bigint not null,
  current_plan_id bigint not null default 0,
  vip_start_at timestamptz,
  vip_end_at timestamptz,
  -- of all paid purchases
  months int not null default 0 check (months >= 0),
  growth_value bigint not null default 0 check (growth_value >= 0),
  -- 1 until the job or the next reader finds that vip_end_at has passed
  status smallint not null default 0 check (status in (0, 1)),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint assets_of_user unique (user_id),
  check ((vip_start_at is null) = (vip_end_at is null)),
  check (status = 0 or (vip_end_at > vip_start_at and current_plan_id > 0))
);
create index assets_ending on vip.assets (vip_end_at) where status = 1;
create index assets_active on vip.assets (user_id) where status = 1;

create table vip.growth_logs (
  id bigint generated always as identity primary key,
  user_id bigint not null,
  order_id bigint not null default 0,
  event_type text not null check (event_type in ('order_paid', 'order_refund', 'admin_adjust')),
  growth_delta bigint not null,
  balance_after bigint not null check (balance_after >= 0),
  remark text not null default '',
  -- what it is for, such as after_sale.refunded:17: an event that is read twice counts once
  source text not null unique,
  created_at timestamptz not null
);
create index growth_logs_of_user on vip.growth_logs (user_id, id desc);
create index growth_logs_of_order on vip.growth_logs (order_id) where order_id > 0;

create table vip.monthly_claims (
  user_id bigint not null,
  rule_id bigint not null,
  -- 202603, in the shop's time zone
  month int not null check (month between 190001 and 999912),
  claimed int not null check (claimed > 0),
  -- the quota at the last claim
  quota int not null check (quota >= claimed),
  user_coupon_ids bigint[] not null,
  updated_at timestamptz not null,
  primary key (user_id, rule_id, month)
);
create index monthly_claims_age on vip.monthly_claims (updated_at);

create table vip.purchases (
  id bigint generated always as identity primary key,
  user_id bigint not null,
  plan_id bigint not null,
  plan_name text not null,
  months int not null check (months between 1 and 120),
  amount bigint not null check (amount >= 0),
  -- free: nothing to pay; instant: paid within the request, without money; else the provider of its payment
  provider text not null,
  status text not null check (status in ('pending', 'paid', 'expired', 'cancelled')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  paid_at timestamptz,
  starts_at timestamptz,
  ends_at timestamptz,
  check ((status = 'paid') = (paid_at is not null)),
  check ((paid_at is null) = (starts_at is null) and (starts_at is null) = (ends_at is null))
);
create unique index purchases_one_pending on vip.purchases (user_id, plan_id) where status = 'pending';
create index purchases_unpaid on vip.purchases (expires_at) where status = 'pending';
create index purchases_of_user on vip.purchases (user_id, id);

select change_log.watch('vip.plans');
select change_log.watch('vip.levels');
select change_log.watch('vip.coupon_rules');
select change_log.watch('vip.sku_prices');

-- A payment pays an order, or the subject of another package (`paymentSubjects`): a purchase of a membership.
alter table orders.payments
  -- compatible: release 0.1.0 always writes order_id, and joins payments with their orders.
  alter column order_id drop not null,
  add column subject text,
  add column subject_id bigint,
  -- until when a subject can be paid; orders have a time of their own
  add column expires_at timestamptz,
  add constraint payments_of_one
    check ((order_id is null) = (subject is not null) and (subject is null) = (subject_id is null));
-- compatible: release 0.1.0 writes no subject.
create unique index payments_of_subject
  on orders.payments (subject, subject_id, (case status when 'succeeded' then 0 else id end)) where subject is not null;
alter table orders.refunds alter column order_id drop not null;
