-- Flash sales, group buys and bargains: activities, what they sell, and what orders have taken of it.

-- What the SQL of other packages may use of the catalogue. Simple views: PostgreSQL plans a statement on them as on their tables.
create view catalog.product_cards as
  select id, category_id, title, subtitle, translations, cover, price, status, search_titles from catalog.products
  where deleted_at is null;
create view catalog.sku_cards as
  select id, product_id, attrs, price, status, stock, reserved_stock, sold from catalog.product_skus;
-- One row per category and each category above it, and one of the category with itself.
create view catalog.category_branches as
  select ancestor_id, category_id from catalog.category_descendants;

create schema activities;

create table activities.activities (
  id bigint generated always as identity primary key,
  type text not null check (type in ('seckill', 'group_buy', 'bargain')),
  name text not null,
  start_at timestamptz not null,
  -- not part of the activity any more
  end_at timestamptz not null,
  -- 1: on. 0: switched off by staff.
  status smallint not null default 1 check (status in (0, 1)),
  -- the further fields of its type, such as group_size; amounts in minor units
  options jsonb not null default '{}' check (jsonb_typeof(options) = 'object'),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Its products stay, because orders name them.
  deleted_at timestamptz,
  check (start_at < end_at),
  -- One activity of a type at a time, also when it is switched off. A range of numbers stands for the type, because PostgreSQL has
  -- no GiST index on text.
  constraint activities_do_not_overlap exclude using gist (
    int4range(
      case type when 'seckill' then 1 when 'group_buy' then 2 else 3 end,
      case type when 'seckill' then 1 when 'group_buy' then 2 else 3 end, '[]') with &&,
    tstzrange(start_at, end_at) with &&) where (deleted_at is null)
);
create index activities_by_type on activities.activities (type, id desc) where deleted_at is null;
create index activities_to_come on activities.activities (type, end_at) where deleted_at is null and status = 1;

-- One row per SKU of an activity. Room in each page: orders update sold_qty, which no index has.
create table activities.activity_products (
  -- activity_product_id
  id bigint generated always as identity primary key,
  activity_id bigint not null references activities.activities (id),
  product_id bigint not null check (product_id > 0),
  -- 0: all SKUs of the product
  sku_id bigint not null check (sku_id >= 0),
  -- Minor units. Flash sales and group buys have a price, bargains a start and a floor; the others are 0.
  activity_price bigint not null default 0 check (activity_price >= 0),
  start_price bigint not null default 0 check (start_price >= 0),
  floor_price bigint not null default 0 check (floor_price >= 0 and floor_price <= start_price),
  -- 0: no limit
  limit_per_order int not null default 0 check (limit_per_order >= 0),
  total_stock_limit int not null default 0 check (total_stock_limit >= 0),
  sold_qty int not null default 0 check (sold_qty >= 0),
  sort int not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Taken out of the activity. The row stays, because orders name it, and comes back with its SKU.
  removed_at timestamptz,
  check (total_stock_limit = 0 or sold_qty <= total_stock_limit),
  unique (activity_id, product_id, sku_id)
) with (fillfactor = 70);
create index activity_products_of_product on activities.activity_products (product_id, id desc);

-- What an order has taken of an activity, and how much of it came back by cancellation or refund.
create table activities.order_uses (
  order_id bigint not null,
  activity_product_id bigint not null,
  qty int not null check (qty > 0),
  returned_qty int not null default 0 check (returned_qty >= 0 and returned_qty <= qty),
  created_at timestamptz not null,
  primary key (order_id, activity_product_id)
) with (fillfactor = 90);
create index order_uses_of_row on activities.order_uses (activity_product_id, order_id);

-- The pieces that came back with a refunded after-sale case. A case is counted once.
create table activities.case_returns (
  case_id bigint not null,
  activity_product_id bigint not null,
  order_id bigint not null,
  qty int not null check (qty >= 0),
  created_at timestamptz not null,
  primary key (case_id, activity_product_id)
);
create index case_returns_of_order on activities.case_returns (order_id);

select change_log.watch('activities.activities');
select change_log.watch('activities.activity_products', array['sold_qty']);
