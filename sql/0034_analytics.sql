-- Facts that the SQL of other packages may read. Simple views: PostgreSQL plans a statement on them as on their table.
create view orders.order_facts as
  select id, user_id, status, payment_method, total_amount, created_at, paid_at from orders.orders;
create view orders.line_facts as
  select order_id, product_id, sku_id, qty, payable_amount from orders.order_items;
create view orders.refund_facts as
  select order_id, kind, status, amount, finished_at from orders.refunds;
create view orders.cart_facts as
  select user_id, created_at from orders.cart_lines;
-- The numbers of orders by status in each block of ids. Orders of a time are in the blocks whose times overlap it.
create view orders.order_spans as
  select block << 12 as first_id, (block + 1) << 12 as end_id, status, orders as n, first_at, last_at from orders.order_blocks
  union all
  select block << 12, (block + 1) << 12, status, change, first_at, last_at from orders.order_changes;
create view catalog.product_facts as
  select id, title, translations, cover, category_id, status, deleted_at from catalog.products;
create view catalog.sku_facts as
  select id, product_id, attrs, price, status, stock, reserved_stock from catalog.product_skus;
create view catalog.category_names as
  select id, name, translations from catalog.categories;

create schema analytics;

-- The orders that were created on a day of a time zone. Past days only; the running day is counted in the tables.
create table analytics.order_days (
  zone text not null,
  day date not null,
  orders int not null,
  paid_orders int not null,
  -- Orders in 2, 3, 4 or 5, and their total amount.
  sold_orders int not null,
  sales bigint not null,
  refunded_orders int not null,
  -- Orders by hour: 24 numbers.
  hours int[] not null,
  -- Sold orders by amount, in minor units: below 5,000, 10,000, 30,000, 100,000, and above.
  bands int[] not null,
  -- Sold orders by payment method: wechat, alipay, balance.
  methods int[] not null,
  rolled_at timestamptz not null default now(),
  primary key (zone, day)
);

-- Hours with an order that has changed. Hours of past days are counted again and removed.
create table analytics.changed_hours (
  hour timestamptz primary key
);

-- Sums over the past days of a period of 7, 30 or 90 days that ends today, in the current time zone.
create table analytics.windows (
  days smallint primary key,
  zone text not null,
  first_day date not null,
  last_day date not null,
  refreshed_at timestamptz not null,
  -- Buyers with 1, 2, 3, and 4 or more sold orders.
  frequency int[] not null,
  new_buyers int not null,
  -- The days from the last order of each buyer to last_day, added up.
  age_days bigint not null
);
create table analytics.window_skus (
  days smallint not null,
  sku_id bigint not null,
  product_id bigint not null,
  qty bigint not null,
  revenue bigint not null,
  primary key (days, sku_id)
);
create index window_skus_best on analytics.window_skus (days, qty desc, revenue desc, sku_id);
create table analytics.window_buyers (
  days smallint not null,
  user_id bigint not null,
  orders int not null,
  last_day date not null,
  primary key (days, user_id)
);

-- Visits of storefronts. A visitor is a hash with a random salt. Salts and visitors of past days are deleted.
create table analytics.visit_salts (
  day date primary key,
  salt bytea not null
);
create table analytics.visitors (
  day date not null,
  visitor bytea not null,
  views int not null,
  primary key (day, visitor)
);
-- Counters of a day: views, visitors, bounces, channel:search, device:mobile, stays:home, seconds:home.
create table analytics.visit_counts (
  day date not null,
  counter text not null,
  n bigint not null,
  primary key (day, counter)
) with (fillfactor = 70);
