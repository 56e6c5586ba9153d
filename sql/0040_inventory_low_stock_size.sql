-- Whether the catalogue has more SKUs than one search compares. The dashboard then reads the SKUs that the search has found.
alter table inventory.low_stock_scan add column is_large boolean not null default false;
