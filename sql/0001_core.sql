-- One PostgreSQL schema per owning package. Money is bigint minor units. References across schemas are by id without
-- foreign keys: an order keeps what it sold after the product is gone, and inserts do not lock other packages' rows.

create schema if not exists runtime;
create schema identity;
create schema catalog;
create schema inventory;
create schema orders;
create schema fulfilment;

-- runtime ------------------------------------------------------------------------------------------------------------

create table runtime.settings (
  key text primary key,
  value jsonb not null,
  updated_at timestamptz not null default now()
);

-- Fails the statement, and with it the transaction, when what must hold does not: for writes that travel together with
-- their commit, whose results come too late to be looked at.
create function runtime.must(holds boolean, what text) returns void language plpgsql as $$
begin
  if holds is not true then
    raise exception '%', what using errcode = 'TP001';
  end if;
end
$$;

-- identity -----------------------------------------------------------------------------------------------------------

create table identity.shoppers (
  id bigint generated always as identity primary key,
  username text unique,
  phone text unique,
  password_hash text,
  nickname text not null default '',
  avatar text not null default '',
  points bigint not null default 0,
  status smallint not null default 1 check (status in (0, 1)),
  -- made by the demo seed with a password everybody knows: can not log in in production
  is_demo boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table identity.roles (
  id bigint generated always as identity primary key,
  name text not null unique,
  permissions text[] not null default '{}',
  created_at timestamptz not null default now()
);

create table identity.staff (
  id bigint generated always as identity primary key,
  username text not null unique,
  password_hash text not null,
  role_id bigint not null references identity.roles (id),
  status smallint not null default 1 check (status in (0, 1)),
  is_demo boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- The newest key signs; older ones verify until the tokens they signed have expired.
create table identity.signing_keys (
  kid text primary key,
  secret bytea not null,
  created_at timestamptz not null default now()
);

create table identity.revoked_tokens (
  jti text primary key,
  expires_at timestamptz not null,
  revoked_at timestamptz not null default now()
);
create index revoked_tokens_recent on identity.revoked_tokens (revoked_at);
create index revoked_tokens_expiry on identity.revoked_tokens (expires_at);

create table identity.addresses (
  id bigint generated always as identity primary key,
  user_id bigint not null references identity.shoppers (id),
  name text not null,
  phone text not null,
  province text not null default '',
  city text not null default '',
  district text not null default '',
  detail text not null default '',
  is_default boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index addresses_of_user on identity.addresses (user_id, id desc);
create unique index addresses_one_default on identity.addresses (user_id) where is_default;

-- catalog ------------------------------------------------------------------------------------------------------------

create table catalog.categories (
  id bigint generated always as identity primary key,
  parent_id bigint not null default 0,
  name text not null,
  icon text not null default '',
  sort int not null default 0,
  status smallint not null default 1 check (status in (0, 1)),
  -- { "zh-CN": { "name": ... } }: what differs from the base text
  translations jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table catalog.products (
  id bigint generated always as identity primary key,
  merchant_id bigint not null default 1,
  category_id bigint not null default 0,
  title text not null,
  subtitle text not null default '',
  cover text not null default '',
  price bigint not null check (price >= 0),
  origin_price bigint not null default 0 check (origin_price >= 0),
  status smallint not null default 1 check (status in (0, 1)),
  sort int not null default 0,
  detail jsonb not null default '{"version": 1, "blocks": []}',
  spec_schema jsonb not null default '[]',
  favorite_count int not null default 0,
  -- { "zh-CN": { "title": ..., "subtitle": ..., "specs": { "Colour": "颜色" } } }
  translations jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index products_on_shelf on catalog.products (sort desc, id desc) where status = 1;
create index products_by_category on catalog.products (category_id, sort desc, id desc);

create table catalog.product_images (
  id bigint generated always as identity primary key,
  product_id bigint not null references catalog.products (id) on delete cascade,
  url text not null,
  sort int not null default 0
);
create index product_images_of_product on catalog.product_images (product_id, sort, id);

-- stock is what is on hand, reserved_stock the part of it that open orders hold: stock - reserved_stock can be sold.
-- Room in each page keeps the many stock updates heap-only: no index is touched.
create table catalog.product_skus (
  id bigint generated always as identity primary key,
  product_id bigint not null references catalog.products (id) on delete cascade,
  sku_key text not null,
  sku_code text not null default '',
  attrs jsonb not null default '[]',
  price bigint not null check (price >= 0),
  stock int not null default 0 check (stock >= 0),
  reserved_stock int not null default 0 check (reserved_stock >= 0 and reserved_stock <= stock),
  sold int not null default 0,
  status text not null default 'active' check (status in ('active', 'inactive')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (product_id, sku_key)
) with (fillfactor = 60);

-- inventory ----------------------------------------------------------------------------------------------------------

create table inventory.inventory_reservation (
  biz_type text not null,
  biz_no text not null,
  sku_id bigint not null,
  warehouse_id bigint not null default 0,
  qty int not null check (qty > 0),
  status text not null check (status in ('reserved', 'confirmed', 'released')),
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (biz_type, biz_no, sku_id)
) with (fillfactor = 80);

create table inventory.order_inventory_state (
  order_no text primary key,
  provider text not null,
  status text not null check (status in ('none', 'pending', 'reserved', 'confirmed', 'released', 'failed')),
  last_error text not null default '',
  updated_at timestamptz not null default now()
) with (fillfactor = 80);

-- orders -------------------------------------------------------------------------------------------------------------

create table orders.cart_lines (
  id bigint generated always as identity,
  user_id bigint not null,
  sku_id bigint not null,
  activity_product_id bigint not null default 0,
  qty int not null check (qty > 0),
  created_at timestamptz not null default now(),
  primary key (user_id, sku_id, activity_product_id)
);

create table orders.orders (
  id bigint generated by default as identity primary key,
  order_no text not null unique,
  user_id bigint not null,
  merchant_id bigint not null default 1,
  status smallint not null check (status between 1 and 6),
  inventory_status text not null default 'none'
    check (inventory_status in ('none', 'pending', 'reserved', 'confirmed', 'released', 'failed')),
  payment_method text not null default '',
  goods_amount bigint not null check (goods_amount >= 0),
  discount_amount bigint not null default 0 check (discount_amount >= 0),
  freight_amount bigint not null default 0 check (freight_amount >= 0),
  total_amount bigint not null check (total_amount = goods_amount - discount_amount + freight_amount),
  address_snapshot jsonb not null,
  remark text not null default '',
  tracking_no text not null default '',
  expires_at timestamptz not null,
  paid_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
) with (fillfactor = 85);
create index orders_of_user on orders.orders (user_id, id desc);
create index orders_by_status on orders.orders (status, id desc);
create index orders_unpaid on orders.orders (expires_at) where status = 1;

-- Lines, history and payments have no foreign key to the order: they are written with it or under its lock, and a check
-- per row would cost a sixth of the database's time when a sale is on.
create table orders.order_items (
  id bigint generated always as identity primary key,
  order_id bigint not null,
  product_id bigint not null,
  sku_id bigint not null,
  warehouse_id bigint not null default 0,
  activity_product_id bigint not null default 0,
  activity_id bigint not null default 0,
  activity_type text not null default '',
  activity_title text not null default '',
  title text not null,
  cover text not null default '',
  attrs jsonb not null default '[]',
  price bigint not null check (price >= 0),
  qty int not null check (qty > 0),
  -- what the buyer pays for this line after its exact share of the discounts
  payable_amount bigint not null check (payable_amount >= 0)
);
create index order_items_of_order on orders.order_items (order_id);

create table orders.order_history (
  id bigint generated always as identity,
  order_id bigint not null,
  from_status smallint,
  to_status smallint not null,
  trigger text not null,
  actor_type text not null check (actor_type in ('user', 'admin', 'system')),
  actor_id bigint not null default 0,
  note text not null default '',
  created_at timestamptz not null default now(),
  primary key (order_id, id)
);

create table orders.payments (
  id bigint generated always as identity primary key,
  order_id bigint not null,
  provider text not null,
  method text not null,
  amount bigint not null check (amount >= 0),
  status text not null check (status in ('succeeded')),
  created_at timestamptz not null default now()
);
create index payments_of_order on orders.payments (order_id);

-- fulfilment ---------------------------------------------------------------------------------------------------------

create table fulfilment.shipments (
  id bigint generated always as identity primary key,
  order_id bigint not null,
  after_sale_case_id bigint not null default 0,
  delivery_type text not null check (delivery_type in ('express', 'local')),
  direction text not null check (direction in ('outbound', 'inbound')),
  biz_type text not null check (biz_type in ('initial', 'reship', 'return')),
  company text not null default '',
  tracking_no text not null default '',
  rider_name text not null default '',
  rider_phone text not null default '',
  channel_provider text not null default '',
  logistics_status text not null default 'pending'
    check (logistics_status in ('pending', 'shipped', 'in_transit', 'signed', 'exception')),
  last_query_at timestamptz,
  last_sync_ok_at timestamptz,
  sync_fail_count int not null default 0,
  remark text not null default '',
  shipped_at timestamptz,
  signed_at timestamptz,
  created_by_type text not null default 'admin' check (created_by_type in ('admin', 'user', 'system')),
  created_by_id bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index shipments_of_order on fulfilment.shipments (order_id, id desc);
-- One first shipment per order, whatever else goes wrong.
create unique index shipments_one_initial on fulfilment.shipments (order_id) where biz_type = 'initial';
