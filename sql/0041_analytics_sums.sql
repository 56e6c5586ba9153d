-- Sums of the same periods as analytics.windows, so that no request adds up all SKUs.
create table analytics.window_products (
  days smallint not null,
  product_id bigint not null,
  qty bigint not null,
  primary key (days, product_id)
);
create index window_products_best on analytics.window_products (days, qty desc, product_id);
-- By the category that the products had when the sums were made; 0: none.
create table analytics.window_categories (
  days smallint not null,
  category_id bigint not null,
  qty bigint not null,
  revenue bigint not null,
  skus int not null,
  primary key (days, category_id)
);
-- The counts of the active SKUs on sale. One row, or none.
create table analytics.catalogue_counts (
  id smallint primary key default 1 check (id = 1),
  total int not null,
  stock bigint not null,
  prices int[] not null,
  stocks int[] not null,
  counted_at timestamptz not null
);
-- The sums are made again, with the new ones.
delete from analytics.windows;
