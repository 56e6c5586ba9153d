-- The SKUs whose low stock is reported. The event stock.low is recorded when a SKU enters; it leaves when its stock is above the limit.
create table inventory.low_stock_skus (
  sku_id bigint primary key,
  since timestamptz not null default now()
);

-- How far the search for low stock is. It takes a bounded range of SKU ids at a time, because the stock columns have no index.
create table inventory.low_stock_scan (
  id smallint primary key default 1 check (id = 1),
  after_sku_id bigint not null default 0
);
insert into inventory.low_stock_scan default values;

-- What is low already is not reported.
insert into inventory.low_stock_skus (sku_id)
select k.id from catalog.product_skus k
join catalog.products p on p.id = k.product_id and p.status = 1
left join (
  select s.sku_id, sum(s.safe_qty) as safe_qty
  from inventory.inventory_stock s join inventory.warehouses w on w.id = s.warehouse_id and w.status = 1
  where s.safe_qty > 0 group by s.sku_id
) as safety on safety.sku_id = k.id
where k.status = 'active' and k.stock - k.reserved_stock < coalesce(safety.safe_qty, 11);
