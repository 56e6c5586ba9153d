-- The accounts that can log in, for the SQL of packages that address all shoppers.
create view identity.active_shoppers as
  select id from identity.shoppers where status = 1 and deleted_at is null;

create schema marketing;

create table marketing.coupons (
  id bigint generated always as identity primary key,
  name text not null,
  -- 1 amount off from a threshold, 2 rate, 3 flat amount off
  type smallint not null check (type in (1, 2, 3)),
  min_amount bigint not null default 0 check (min_amount >= 0),
  -- minor units; for type 2 the part of the price that is paid, in 1/10,000
  discount bigint not null check (discount > 0 and (type <> 2 or discount <= 10000)),
  start_at timestamptz,
  end_at timestamptz check (end_at > start_at),
  description text not null default '',
  stack_rule text not null default 'exclusive' check (stack_rule in ('exclusive', 'same_type', 'cross_type')),
  target_type text not null default 'all' check (target_type in ('all', 'vip_level', 'new_user')),
  -- a text or a number, as staff sent it
  target_value jsonb not null default '""',
  -- 0 is unlimited
  total_count int not null default 0 check (total_count >= 0),
  per_limit int not null default 0 check (per_limit >= 0),
  status smallint not null default 1 check (status in (0, 1)),
  -- the coupons that shoppers got, and those of them that staff sent
  claimed_count int not null default 0,
  used_count int not null default 0 check (used_count between 0 and claimed_count),
  -- what shoppers get now
  version_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz
);
create index coupons_listed on marketing.coupons (id desc) where deleted_at is null;
create index coupons_enabled on marketing.coupons (id desc) where deleted_at is null and status = 1;
create index coupons_by_name on marketing.coupons (name, id) where deleted_at is null;

-- A coupon as shoppers got it. An edit writes a new version, and coupons that shoppers have keep theirs.
create table marketing.coupon_versions (
  id bigint generated always as identity primary key,
  coupon_id bigint not null references marketing.coupons (id),
  name text not null,
  type smallint not null,
  min_amount bigint not null,
  discount bigint not null,
  start_at timestamptz,
  end_at timestamptz,
  description text not null,
  stack_rule text not null,
  total_count int not null,
  per_limit int not null,
  created_at timestamptz not null default now()
);
create index coupon_versions_of_coupon on marketing.coupon_versions (coupon_id);

-- No foreign keys: coupons and versions are never deleted, and one statement writes 100,000 rows.
create table marketing.user_coupons (
  id bigint generated always as identity primary key,
  coupon_id bigint not null,
  version_id bigint not null,
  user_id bigint not null,
  -- claim, send, or the name of the package that gave it away
  source text not null,
  -- 1 unused, 2 used, 3 expired. An unused one is expired after end_at, also before a job has written it.
  status smallint not null default 1 check (status in (1, 2, 3)),
  end_at timestamptz,
  order_id bigint,
  used_at timestamptz,
  created_at timestamptz not null default now(),
  check ((status = 2) = (order_id is not null) and (status = 2) = (used_at is not null))
);
create index user_coupons_of_user on marketing.user_coupons (user_id, id desc);
create index user_coupons_of_coupon on marketing.user_coupons (coupon_id, user_id);
create index user_coupons_of_order on marketing.user_coupons (order_id) where order_id is not null;
create index user_coupons_unused on marketing.user_coupons (end_at) where status = 1 and end_at is not null;

create table marketing.full_reductions (
  id bigint generated always as identity primary key,
  name text not null,
  start_at timestamptz,
  end_at timestamptz check (end_at > start_at),
  -- [{ min, reduce }] in minor units, ascending
  tiers jsonb not null check (jsonb_typeof(tiers) = 'array'),
  status smallint not null default 1 check (status in (0, 1)),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index full_reductions_enabled on marketing.full_reductions (id) where status = 1;

select change_log.watch('marketing.coupons', array['claimed_count', 'version_id']);
select change_log.watch('marketing.full_reductions');
