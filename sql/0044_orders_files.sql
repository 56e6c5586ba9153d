-- Exports of orders, which have personal data, and imports of the orders of older shops.

-- Which orders were exported. Who did it is in the change log.
create table orders.order_exports (
  id bigint generated always as identity primary key,
  -- the filters that were given
  filter jsonb not null,
  -- with names, phones and addresses
  receivers boolean not null,
  created_at timestamptz not null default now()
);
create index order_exports_age on orders.order_exports (created_at);
select change_log.watch('orders.order_exports');

-- One row per imported file. Each order of the file gets an id by its place, so an import that was killed goes on with the same ids.
create table orders.order_imports (
  id bigint generated always as identity primary key,
  -- SHA-256 of the file
  digest bytea not null unique,
  orders bigint not null check (orders > 0),
  first_id bigint not null,
  -- The file begins with its newest order. That order gets the highest id, because lists are sorted by id.
  newest_first boolean not null,
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
select change_log.watch('orders.order_imports');

-- The orders that were imported. They have no stock, payment or shipment in this shop.
create table orders.imported_orders (
  order_id bigint primary key,
  -- the shopper as the file names it
  nickname text not null,
  shopper_account text not null,
  shopper_phone text not null,
  -- What the search by keyword finds: number, shopper, receiver and titles, in lower case. The other indexes of the search need
  -- an account and a product.
  search text not null,
  imported_at timestamptz not null default now()
);
create index imported_orders_search on orders.imported_orders using gin (runtime.grams(search));

-- The code of an imported line. The lines of this shop have their SKU.
alter table orders.order_items add column sku_code text;
