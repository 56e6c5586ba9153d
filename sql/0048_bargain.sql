-- Bargains of shoppers, and the help of others.
create schema bargain;

create table bargain.bargains (
  id bigint generated always as identity primary key,
  activity_id bigint not null,
  activity_product_id bigint not null,
  -- as the activity was when the bargain was opened
  activity_name text not null,
  product_id bigint not null,
  -- 0: any SKU of the product
  sku_id bigint not null check (sku_id >= 0),
  -- the shopper who opened it
  owner_id bigint not null,
  start_price bigint not null,
  floor_price bigint not null check (floor_price > 0),
  current_price bigint not null check (current_price >= floor_price and current_price <= start_price),
  -- the bounds of one cut, in minor units
  min_cut bigint not null check (min_cut > 0),
  max_cut bigint not null check (max_cut >= min_cut),
  max_helpers integer not null check (max_helpers > 0),
  help_count integer not null default 0 check (help_count >= 0 and help_count <= max_helpers),
  status text not null default 'pending' check (status in ('pending', 'success', 'failed')),
  expire_at timestamptz not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  -- the order that bought at current_price
  order_id bigint,
  check ((status = 'success') = (current_price = floor_price)),
  check ((status = 'pending') = (ended_at is null)),
  check (order_id is null or status = 'success')
);
create unique index bargains_open on bargain.bargains (owner_id, activity_product_id, sku_id) where status = 'pending';
create index bargains_unbought on bargain.bargains (owner_id, id) where status = 'success' and order_id is null;
create index bargains_due on bargain.bargains (expire_at, id) where status = 'pending';
create index bargains_of_order on bargain.bargains (order_id) where order_id is not null;
create index bargains_of_activity on bargain.bargains (activity_id, id);
create index bargains_by_status on bargain.bargains (status, id);
create index bargains_failed on bargain.bargains (ended_at) where status = 'failed';

create table bargain.helps (
  id bigint generated always as identity primary key,
  bargain_id bigint not null references bargain.bargains on delete cascade,
  -- the helper
  user_id bigint not null,
  cut_amount bigint not null check (cut_amount > 0),
  created_at timestamptz not null,
  unique (bargain_id, user_id)
);
