-- Products that shoppers get for points, and their exchanges.
create schema points_mall;

create table points_mall.products (
  id bigint generated always as identity primary key,
  title text not null check (title <> ''),
  type text not null check (type in ('coupon', 'physical', 'virtual')),
  points_price bigint not null check (points_price > 0),
  -- the largest sold_count that staff allow; null: no limit. What is left is stock_limit - sold_count.
  stock_limit bigint check (stock_limit >= 0),
  -- the quantity in exchanges that are not cancelled
  sold_count bigint not null default 0 check (sold_count >= 0),
  cover text not null default '',
  images jsonb not null default '[]' check (jsonb_typeof(images) = 'array'),
  description text not null default '',
  -- 1: on the shelf
  status smallint not null check (status in (0, 1)),
  sort integer not null default 0,
  -- 0: no limit
  limit_per_user integer not null default 0 check (limit_per_user >= 0),
  limit_per_day integer not null default 0 check (limit_per_day >= 0),
  coupon_id bigint not null default 0,
  need_address boolean not null default false,
  virtual_content text not null default '',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint products_stock check (sold_count <= stock_limit)
);
create index products_order on points_mall.products (sort desc, id desc);

-- The last six digits of the exchange numbers of one second.
create sequence points_mall.exchange_numbers;

-- The texts of the product are those at the exchange: staff can edit or delete the product later.
create table points_mall.exchanges (
  id bigint generated always as identity primary key,
  exchange_no text not null unique,
  user_id bigint not null,
  product_id bigint not null,
  product_title text not null,
  product_type text not null check (product_type in ('coupon', 'physical', 'virtual')),
  product_cover text not null,
  qty integer not null check (qty > 0),
  -- of the whole exchange
  points_cost bigint not null check (points_cost > 0),
  status text not null check (status in ('pending_ship', 'shipped', 'completed', 'canceled')),
  address_snapshot jsonb check (jsonb_typeof(address_snapshot) = 'object'),
  tracking_no text not null default '',
  coupon_user_ids bigint[] not null default '{}',
  virtual_content text not null default '',
  -- why it was cancelled
  remark text not null default '',
  -- the day in the zone that the shop had, for the limit of a day
  day date not null,
  -- the limits of the product at the exchange, for the audit
  limit_per_user integer not null,
  limit_per_day integer not null,
  created_at timestamptz not null,
  shipped_at timestamptz,
  completed_at timestamptz,
  canceled_at timestamptz,
  check ((status = 'completed') = (completed_at is not null) and (status = 'canceled') = (canceled_at is not null)),
  check (status <> 'shipped' or shipped_at is not null)
);
create index exchanges_of_user on points_mall.exchanges (user_id, id);
create index exchanges_by_status on points_mall.exchanges (status, id);
-- For the limits of a shopper, and for the exchanges that stop the deletion of a product.
create index exchanges_of_product on points_mall.exchanges (product_id, user_id, day) include (qty)
  where status <> 'canceled';
create index exchanges_open on points_mall.exchanges (product_id) where status in ('pending_ship', 'shipped');

select change_log.watch('points_mall.products', array['sold_count']);
select change_log.watch('points_mall.exchanges', array['address_snapshot', 'virtual_content']);
