-- What after-sale cases have moved, at every inventory provider: a repeat for the same case changes nothing.
create table inventory.after_sale_moves (
  biz_no text not null,
  -- restore: returned goods came into stock; deduct: goods left for a re-shipment
  action text not null check (action in ('restore', 'deduct')),
  sku_id bigint not null,
  qty int not null check (qty > 0),
  provider text not null,
  created_at timestamptz not null default now(),
  primary key (biz_no, action, sku_id)
);

-- What the SQL of other packages may use of it: for reading.
create view inventory.restored_stock as
  select biz_no, sku_id, qty from inventory.after_sale_moves where action = 'restore';
